export interface ExportFormatRow {
  /** The name as people know it. */
  title: string
  extension: string
  mediaType: string
  /** Whether its files are already compressed, so that a gzip or zstd variant would not save anything. */
  isCompressed: boolean
  /** Whether it exists only for datasets that have a geometry. */
  needsGeometry: boolean
  /** Whether lists offer it for a table without geometry. The others can still be requested for one. */
  suitsTables: boolean
}

/**
 * Every download format of a dataset, by its name in URLs, in the order in which lists show them. The writer of each
 * is in geodata/src/exports/index.ts.
 */
export const EXPORT_FORMATS = {
  csv: {
    title: 'CSV',
    extension: 'csv',
    mediaType: 'text/csv; charset=utf-8',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: true,
  },
  json: {
    title: 'JSON',
    extension: 'json',
    mediaType: 'application/json',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: true,
  },
  geojson: {
    title: 'GeoJSON',
    extension: 'geojson',
    mediaType: 'application/geo+json',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: false,
  },
  kml: {
    title: 'KML',
    extension: 'kml',
    mediaType: 'application/vnd.google-earth.kml+xml',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: false,
  },
  shp: {
    title: 'Shapefile',
    extension: 'shp.zip',
    mediaType: 'application/zip',
    isCompressed: true,
    needsGeometry: false,
    suitsTables: false,
  },
  geoparquet: {
    title: 'GeoParquet',
    extension: 'parquet',
    mediaType: 'application/vnd.apache.parquet',
    isCompressed: true,
    needsGeometry: false,
    suitsTables: true,
  },
  gpkg: {
    title: 'GeoPackage',
    extension: 'gpkg',
    mediaType: 'application/geopackage+sqlite3',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: true,
  },
  fgb: {
    title: 'FlatGeobuf',
    extension: 'fgb',
    mediaType: 'application/vnd.flatgeobuf',
    isCompressed: false,
    needsGeometry: false,
    suitsTables: false,
  },
  pmtiles: {
    title: 'PMTiles',
    extension: 'pmtiles',
    mediaType: 'application/vnd.pmtiles',
    isCompressed: true,
    needsGeometry: true,
    suitsTables: false,
  },
} as const satisfies Record<string, ExportFormatRow>

export type ExportFormat = keyof typeof EXPORT_FORMATS

export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as readonly ExportFormat[]
