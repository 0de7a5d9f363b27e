import type { FeatureStream } from '../feature.ts'
import type { SourcePart } from './parts/source-part.ts'
import type { ByteSource } from './reading/byte-source.ts'
import type { GdalOptions } from './reading/gdal-options.ts'
import type { ReadOptions } from './reading/read-options.ts'
import type { SourceLimits } from './reading/source-limits.ts'

/** A format that can be read: its name in options and manifests, and its title in messages. */
export interface Format {
  name: string
  title: string
  extensions: string[]
  /** Whether the bytes are read sequentially; otherwise the reader needs the file on disk. */
  isStreamed?: true
  /**
   * Which encoding `--encoding` may name: that of a text, which is converted to UTF-8 before it is read, or one
   * that the reader decodes itself. Formats without this have a fixed encoding.
   */
  encoding?: 'text' | 'reader'
  /** Whether a file may have several layers. */
  hasLayers?: true
  /** Whether it stores a value that many rows share once, so that small files may hold many rows. */
  isColumnar?: true
  /** Whether the first row may be a header, which `--no-header` denies. */
  hasHeader?: true
  /**
   * Where the geometry comes from: the format itself (if absent), columns that the reader looks for, or columns
   * of a file without a geometry of its own, which are looked for after reading.
   */
  geometry?: 'columns' | 'table'
  open(input: Input, options: OpenOptions): Promise<FeatureStream>
}

export interface Input {
  file: string
  source: ByteSource
  /** The path of the same bytes on disk, for formats that cannot be read sequentially. */
  path(): Promise<string>
  /** Whether that file still exists after the source has been read. */
  stays: boolean
  /** Whether the file was received under another name, without any files that belong to it. */
  isAlone: boolean
  /** The files whose rows are read together, if there are several. */
  parts?: SourcePart[]
}

export interface OpenOptions extends ReadOptions {
  layer?: string
  crs?: string
  limits: SourceLimits
  /** Whether the publisher chose the format, so that doubtful content is read as that. */
  isFormatChosen: boolean
  gdal?: GdalOptions
  scratchFolder?: string
  databaseMegabytes?: number
}

/** The table of formats. Readers are imported when needed, because some load a database. */
export const FORMATS: Format[] = [
  {
    name: 'geojson',
    title: 'GeoJSON',
    extensions: ['.geojson', '.json', '.geojsonl', '.geojsons', '.ndgeojson', '.ndjson', '.jsonl'],
    isStreamed: true,
    encoding: 'text',
    async open({ source, path, stays }, { limits, crs, encoding }) {
      const { openGeojson } = await import('./geojson/geojson.ts')
      const { readTailMembers } = await import('./geojson/geojson-tail.ts')
      return openGeojson(source, {
        crs,
        // The end of a compressed file is unknown until all of it has been read.
        tailMembers: stays && encoding === undefined ? async () => readTailMembers(await path()) : undefined,
        maxColumns: limits.columns,
        maxFeatureBytes: limits.rowBytes,
        maxDepth: limits.depth,
      })
    },
  },
  {
    name: 'csv',
    title: 'CSV',
    extensions: ['.csv', '.tsv', '.tab', '.txt', '.psv'],
    isStreamed: true,
    encoding: 'text',
    hasHeader: true,
    geometry: 'columns',
    async open({ source, file }, options) {
      const { openCsv } = await import('./csv/csv.ts')
      const allowOneColumn = options.isFormatChosen || /\.(csv|tsv|tab|psv)(\.\w+)?$/i.test(file)
      return openCsv(source, { ...options, allowOneColumn })
    },
  },
  {
    name: 'json',
    title: 'JSON rows',
    extensions: ['.json', '.ndjson', '.jsonl'],
    isStreamed: true,
    encoding: 'text',
    geometry: 'columns',
    open: async ({ source }, options) => (await import('./json/json.ts')).openJson(source, options),
  },
  {
    name: 'topojson',
    title: 'TopoJSON',
    extensions: ['.topojson', '.json'],
    isStreamed: true,
    encoding: 'text',
    hasLayers: true,
    open: async ({ source }, options) =>
      (await import('./topojson/topojson.ts')).openTopojson(source, options),
  },
  {
    name: 'esrijson',
    title: 'Esri JSON',
    extensions: ['.json', '.esrijson'],
    isStreamed: true,
    encoding: 'text',
    open: async ({ source }, options) =>
      (await import('./esrijson/esrijson.ts')).openEsrijson(source, options),
  },
  {
    name: 'shapefile',
    title: 'Shapefile',
    extensions: ['.shp'],
    encoding: 'reader',
    // The layers are the shapefiles of a zip.
    hasLayers: true,
    async open({ path, file, isAlone }, { limits, encoding }) {
      const { openShapefile } = await import('./shapefile/shapefile.ts')
      return openShapefile(await path(), file, { limits, encoding, isAlone })
    },
  },
  {
    name: 'dbf',
    title: 'dBase',
    extensions: ['.dbf'],
    isStreamed: true,
    encoding: 'reader',
    geometry: 'table',
    open: async ({ source }, options) => (await import('./shapefile/dbf-table.ts')).openDbf(source, options),
  },
  {
    name: 'geopackage',
    title: 'GeoPackage',
    extensions: ['.gpkg'],
    hasLayers: true,
    geometry: 'table',
    async open({ path, file }, options) {
      const { openGeopackage } = await import('./geopackage/geopackage.ts')
      return openGeopackage(await path(), file, options)
    },
  },
  {
    name: 'spatialite',
    title: 'SpatiaLite',
    extensions: ['.sqlite', '.db'],
    hasLayers: true,
    geometry: 'table',
    async open({ path, file }, options) {
      const { openSpatialite } = await import('./spatialite/spatialite.ts')
      return openSpatialite(await path(), file, options)
    },
  },
  {
    name: 'flatgeobuf',
    title: 'FlatGeobuf',
    extensions: ['.fgb'],
    isStreamed: true,
    open: async ({ source }, options) =>
      (await import('./flatgeobuf/flatgeobuf.ts')).openFlatgeobuf(source, options),
  },
  {
    name: 'parquet',
    title: 'Parquet',
    extensions: ['.parquet', '.geoparquet', '.pq'],
    isColumnar: true,
    geometry: 'columns',
    async open({ path, file, stays, parts }, options) {
      const { limits, crs, databaseMegabytes, longitude, latitude, geometryColumn } = options
      const { geometry, ignorable } = options
      const coordinates = { longitude, latitude, geometryColumn, geometry, ignorable }
      const reading = { limits, crs, stays, databaseMegabytes, coordinates }
      if (parts) return (await import('./parquet/parquet-parts.ts')).openParquetParts(parts, reading)
      const { openParquet } = await import('./parquet/parquet.ts')
      return openParquet(await path(), file, reading)
    },
  },
  {
    name: 'arrow',
    title: 'Arrow',
    extensions: ['.arrow', '.feather', '.arrows', '.ipc'],
    isColumnar: true,
    geometry: 'table',
    async open({ path, file }, options) {
      const { openArrow } = await import('./arrow/arrow.ts')
      return openArrow(await path(), file, options)
    },
  },
  {
    name: 'pgcopy',
    title: 'rows of PostgreSQL',
    extensions: ['.pgcopy'],
    isStreamed: true,
    geometry: 'table',
    open: async ({ source }, options) => (await import('./pgcopy/pgcopy.ts')).openPgcopy(source, options),
  },
  {
    name: 'xlsx',
    title: 'an Excel workbook',
    extensions: ['.xlsx', '.xlsm'],
    hasLayers: true,
    hasHeader: true,
    geometry: 'table',
    async open({ path, file }, options) {
      const { openXlsx } = await import('./spreadsheet/xlsx.ts')
      return openXlsx(await path(), file, options)
    },
  },
  {
    name: 'ods',
    title: 'an OpenDocument spreadsheet',
    extensions: ['.ods'],
    hasLayers: true,
    hasHeader: true,
    geometry: 'table',
    async open({ path, file }, options) {
      const { openOds } = await import('./spreadsheet/ods.ts')
      return openOds(await path(), file, options)
    },
  },
  {
    name: 'kml',
    title: 'KML',
    extensions: ['.kml'],
    isStreamed: true,
    encoding: 'reader',
    open: async ({ source }, options) => (await import('./kml/kml.ts')).openKml(source, options),
  },
  {
    name: 'gpx',
    title: 'GPX',
    extensions: ['.gpx'],
    isStreamed: true,
    encoding: 'reader',
    hasLayers: true,
    open: async ({ source }, options) => (await import('./gpx/gpx.ts')).openGpx(source, options),
  },
]
