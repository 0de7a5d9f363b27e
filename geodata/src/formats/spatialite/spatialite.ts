import { inflateSync } from 'node:zlib'
import { findEpsg } from '../../crs/epsg.ts'
import type { FeatureStream, Geometry, Value } from '../../feature.ts'
import { readWkb } from '../../geometry/wkb.ts'
import { readWkt } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { typeOf as geopackageType } from '../geopackage/geopackage.ts'
import { largerThan } from '../reading/source-limits.ts'
import { type OpenSqliteOptions, openSqlite } from '../sqlite/open-sqlite.ts'
import {
  type DeclaredType,
  type ExpansionBound,
  type SqliteColumn,
  type SqliteDialect,
  type SqliteLayer,
  type SqliteValue,
  toValue,
} from '../sqlite/sqlite-dialect.ts'
import type { Row, UntrustedDatabase } from '../sqlite/untrusted-database.ts'
import { readSpatialiteGeometry } from './spatialite-geometry.ts'
import { toDate, toTimestamp } from './stored-times.ts'

/**
 * Opens a layer of a SpatiaLite database, or of one with the tables that GDAL's driver SQLite and FDO write. A
 * table or view that is not a layer can be chosen by its name.
 */
export function openSpatialite(
  path: string,
  file: string,
  options: OpenSqliteOptions,
): Promise<FeatureStream> {
  return openSqlite(path, file, SPATIALITE, options)
}

const SPATIALITE: SqliteDialect = {
  layers: layersOf,
  unlistedLayer(database, name) {
    const table = database.schema.get(name.toLowerCase())?.name
    if (table === undefined) return null
    return { name: table, geometryColumn: null, readGeometry: readSpatialiteValue, crs: () => null }
  },
  numbersRows: true,
  typeOf: ({ declared }) => typeOf(declared),
  converter,
}

/** `geometry_columns` lists tables and, in files of GDAL, views; SpatiaLite lists views in a table of their own. */
function layersOf(database: UntrustedDatabase): SqliteLayer[] {
  const geometries = database.select('*', 'geometry_columns')
  const layers: SqliteLayer[] = []
  const add = (layer: SqliteLayer) => {
    const isListed = layers.some(({ name }) => name.toLowerCase() === layer.name.toLowerCase())
    if (!isListed && database.has(layer.name)) layers.push(layer)
  }
  for (const row of geometries)
    add(layerFrom(database, row, String(row['f_table_name']), String(row['f_geometry_column'])))
  if (!database.has('views_geometry_columns')) return layers
  for (const view of database.select('*', 'views_geometry_columns')) {
    const source = geometries.find(
      (row) =>
        isSameName(row['f_table_name'], view['f_table_name']) &&
        isSameName(row['f_geometry_column'], view['f_geometry_column']),
    )
    if (source === undefined) continue
    const layer = layerFrom(database, source, String(view['view_name']), String(view['view_geometry']))
    add({ ...layer, idColumn: String(view['view_rowid']) })
  }
  return layers
}

function isSameName(one: unknown, other: unknown): boolean {
  return String(one).toLowerCase() === String(other).toLowerCase()
}

/** The name is that of the schema, because SpatiaLite writes names in lower case into its tables. */
function layerFrom(database: UntrustedDatabase, row: Row, table: string, column: string): SqliteLayer {
  return {
    name: database.schema.get(table.toLowerCase())?.name ?? table,
    geometryColumn: column,
    readGeometry: geometryReader(row['geometry_format'], database.file),
    crs: () => crsOf(database, Number(row['srid'])),
  }
}

/** The format is stated in the tables of GDAL and FDO only. */
function geometryReader(format: unknown, file: string): SqliteLayer['readGeometry'] {
  switch (String(format ?? 'SPATIALITE').toUpperCase()) {
    case 'SPATIALITE':
      return readSpatialiteValue
    case 'WKB':
      return (value) => readWkb(bytesOf(value, 'WKB'))
    case 'WKT':
      return readWktValue
    default:
      return () => {
        throw new SourceError(`${file} has geometries in the format ${format}, which is not supported`)
      }
  }
}

function readSpatialiteValue(value: Exclude<SqliteValue, null>): Geometry {
  return readSpatialiteGeometry(bytesOf(value, 'a SpatiaLite geometry'))
}

function readWktValue(value: Exclude<SqliteValue, null>): Geometry {
  if (typeof value !== 'string') throw new SourceError('the geometry is not WKT')
  return readWkt(value)
}

function bytesOf(value: SqliteValue, what: string): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new SourceError(`the geometry is not ${what}`)
  return value
}

/** Null for the undefined ones, 0 and -1. */
function crsOf(database: UntrustedDatabase, srid: number): string | null {
  if (!(srid > 0) || !database.has('spatial_ref_sys')) return null
  const [srs] = database.select('*', 'spatial_ref_sys', 'WHERE srid = ?', srid)
  if (!srs) return null
  const authority = String(srs['auth_name'] ?? '').toUpperCase()
  const code = Number(srs['auth_srid'])
  if (/^(EPSG|ESRI)$/.test(authority) && findEpsg(code) !== null) return `${authority}:${code}`
  // `srs_wkt` until SpatiaLite 3; the texts are "Undefined" or empty if there is no definition.
  const wkt = [srs['srtext'], srs['srs_wkt']].map((text) => String(text ?? ''))
  const proj = String(srs['proj4text'] ?? '')
  return wkt.find((text) => text.includes('[')) ?? (proj.includes('+proj=') ? proj : `${authority}:${code}`)
}

/** The declared types that GDAL and SpatiaLite write, beside those of GeoPackage. */
function typeOf(declared: string): DeclaredType {
  if (declared === 'INTEGER_BOOLEAN') return 'boolean'
  if (/^JSON/.test(declared)) return 'json'
  if (/^INT/.test(declared)) return 'integer'
  if (declared === 'TIMESTAMP') return 'timestamp'
  return geopackageType(declared)
}

function converter(
  { declared }: SqliteColumn,
  bound: ExpansionBound,
): ((value: SqliteValue) => Value) | null {
  if (/_DEFLATE$/.test(declared)) return inflater(declared.startsWith('BLOB'), bound)
  if (declared === 'DATE') return toDate
  return typeOf(declared) === 'timestamp' ? toTimestamp : null
}

/** GDAL can store columns compressed by zlib (COMPRESS_COLUMNS). */
function inflater(isBinary: boolean, bound: ExpansionBound): (value: SqliteValue) => Value {
  return (value) => {
    if (!(value instanceof Uint8Array)) return toValue(value)
    let bytes: Buffer
    try {
      bytes = inflateSync(value, { maxOutputLength: bound.maxValueBytes })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new SourceError(`A compressed value is ${largerThan(bound.maxValueBytes)}.`)
      return toValue(value)
    }
    bound.add(bytes.length)
    return isBinary ? bytes.toString('base64') : bytes.toString('utf8')
  }
}
