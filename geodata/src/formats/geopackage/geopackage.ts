import { open, stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { findEpsg } from '../../crs/epsg.ts'
import type { ColumnType, Feature, FeatureStream, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { writeWkt } from '../../geometry/wkt.ts'
import { quoteName } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import { chooseLayer } from '../choose-layer.ts'
import { parseJson } from '../json/parse-json.ts'
import { invalidText } from '../reading/invalid-text.ts'
import {
  DEFAULT_LIMITS,
  expandsBeyond,
  largerThan,
  maxValueBytes,
  type SourceLimits,
} from '../reading/source-limits.ts'
import { readGeopackageGeometry } from './geopackage-geometry.ts'
import { TextCheck } from './text-check.ts'

const BATCH_ROWS = 2000
/** A batch of large rows ends earlier. */
const BATCH_BYTES = 1 << 24
/** The tables that describe a GeoPackage may be views without an end too. */
const MAX_DESCRIPTION_ROWS = 10_000

interface Layer {
  name: string
  geometryColumn: string | null
  srsId: number | null
}

interface TableColumn {
  name: string
  declared: string
  isKey: boolean
}

/** Opens a layer of a GeoPackage: features, or a table without geometry. */
export async function openGeopackage(
  path: string,
  file: string,
  options: { layer?: string; crs?: string; limits?: SourceLimits } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { size } = await stat(path)
  await refuseTruncated(path, file, size)
  // Without locks, and without a log beside the file: `checkpointedCopy` has included that.
  const database = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true })
  try {
    database.exec('PRAGMA trusted_schema = OFF')
    const layer = chooseLayer(layersOf(database, file), options.layer, file)
    const table = columnsOf(database, layer)
    const attributes = table.filter(({ name, isKey }) => !isKey && name !== layer.geometryColumn)
    if (attributes.length > limits.columns)
      throw new SourceError(`${file} has ${attributes.length} columns; at most ${limits.columns} are read.`)
    const jsonColumns = jsonColumnsOf(database, layer.name)
    const columns = attributes.map(({ name, declared }) =>
      sourceColumn(name, declared, jsonColumns.has(name)),
    )
    const expectedRows = expectedRowsOf(database, layer.name)
    let row = 0
    const read = { bytes: 0 }
    let isDone = false
    return {
      columns,
      notes: attributes.filter(isGeometry).map(geometryNote),
      crs: layer.geometryColumn === null ? null : (options.crs ?? crsOf(database, layer, file)),
      spatial: layer.geometryColumn !== null,
      totalBytes: expectedRows === null ? null : size,
      get bytesRead() {
        if (expectedRows === null) return read.bytes
        return isDone ? size : Math.round(Math.min(1, row / expectedRows) * size)
      },
      async *batches() {
        try {
          for (const batch of readRows(database, layer, table, columns, { file, size, limits, read })) {
            row += batch.length
            yield batch
          }
          isDone = true
        } catch (error) {
          throw damaged(error, file, row)
        } finally {
          database.close()
        }
      },
    }
  } catch (error) {
    database.close()
    throw damaged(error, file, 0)
  }
}

/** Compares the file size with the number of pages in the header. */
async function refuseTruncated(path: string, file: string, size: number): Promise<void> {
  const handle = await open(path)
  try {
    const header = Buffer.alloc(100)
    await handle.read(header, 0, 100, 0)
    const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16)
    const expected = pageSize * header.readUInt32BE(28)
    if (size < Math.max(100, expected))
      throw new SourceError(`${file} ends too early: it has ${size} of ${expected} bytes.`)
  } finally {
    await handle.close()
  }
}

function damaged(error: unknown, file: string, row: number): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') return error
  const where = row > 0 ? ` after row ${row}` : ''
  return new SourceError(`${file} cannot be read${where}: ${(error as Error).message}.`)
}

type Row = { [name: string]: unknown }

function query(database: DatabaseSync, sql: string, ...values: (string | number)[]): Row[] {
  const rows: Row[] = []
  for (const row of database.prepare(sql).iterate(...values)) {
    if (rows.length === MAX_DESCRIPTION_ROWS)
      throw new SourceError(`The file describes itself in more than ${MAX_DESCRIPTION_ROWS} rows.`)
    rows.push(row)
  }
  return rows
}

/**
 * An estimate for the progress, without reading the rows: the largest row id. Null for a view and for a table
 * without row ids. To count the rows of a view means to compute all of them, and a view may have no end.
 */
function expectedRowsOf(database: DatabaseSync, table: string): number | null {
  const [entry] = query(database, 'SELECT type FROM sqlite_master WHERE name = ?', table)
  if (entry?.['type'] !== 'table') return null
  try {
    const [row] = query(database, `SELECT max(rowid) AS n FROM ${quoteName(table)}`)
    return Math.max(1, Number(row?.['n'] ?? 0))
  } catch {
    return null
  }
}

/** GDAL adds an empty table (ogr_empty_table), which is ignored, if no other table has geometry. */
function layersOf(database: DatabaseSync, file: string): Layer[] {
  const tables = new Set(query(database, 'SELECT name FROM sqlite_master').map(({ name }) => name))
  if (!tables.has('gpkg_contents'))
    throw new SourceError(`${file} is an SQLite database, but not a GeoPackage.`)
  const geometries = tables.has('gpkg_geometry_columns')
    ? query(database, 'SELECT table_name, column_name, srs_id FROM gpkg_geometry_columns')
    : []
  return (
    query(
      database,
      `SELECT table_name AS name, data_type AS type, rowid AS position FROM gpkg_contents
     WHERE data_type IN ('features', 'attributes', 'aspatial') AND table_name <> 'ogr_empty_table'`,
    )
      // Not sorted by SQLite, which would compute all rows before the first.
      .sort((left, right) => Number(left['position']) - Number(right['position']))
      .filter(({ name }) => tables.has(name as string))
      .map(({ name, type }) => {
        const geometry =
          type === 'features' ? geometries.find((each) => each['table_name'] === name) : undefined
        return {
          name: String(name),
          geometryColumn: geometry ? String(geometry['column_name']) : null,
          srsId: geometry ? Number(geometry['srs_id']) : null,
        }
      })
  )
}

function columnsOf(database: DatabaseSync, layer: Layer): TableColumn[] {
  const rows = query(database, `PRAGMA table_info(${quoteName(layer.name)})`)
  const keys = rows.filter(({ pk }) => Number(pk) > 0)
  return rows.map(({ name, type, pk }) => ({
    name: String(name),
    declared: String(type).toUpperCase(),
    isKey: keys.length === 1 && Number(pk) > 0 && String(type).toUpperCase() === 'INTEGER',
  }))
}

/** The text columns that the file's own data dictionary declares as JSON. */
function jsonColumnsOf(database: DatabaseSync, table: string): Set<string> {
  try {
    const sql = `SELECT column_name AS name FROM gpkg_data_columns WHERE table_name = ? AND mime_type = 'application/json'`
    return new Set(query(database, sql, table).map(({ name }) => String(name)))
  } catch {
    return new Set()
  }
}

function sourceColumn(name: string, declared: string, isJson: boolean): SourceColumn {
  return { name, type: isJson || declared === 'JSON' ? 'json' : typeOf(declared) }
}

const GEOMETRY_TYPE =
  /^(MULTI)?(GEOMETRY|POINT|LINESTRING|POLYGON|CURVE|SURFACE)|^GEOM|^CIRCULARSTRING|^COMPOUNDCURVE/

/** A GeoPackage table has one geometry column, but other programs add further ones. */
function isGeometry({ declared }: TableColumn): boolean {
  return GEOMETRY_TYPE.test(declared)
}

function geometryNote({ name }: TableColumn): string {
  return `Column ${name} is another geometry: it is kept as WKT text, with the coordinates that it has in the file.`
}

function typeOf(declared: string): ColumnType | 'infer-json' {
  if (declared === 'BOOLEAN') return 'boolean'
  if (/^(TINY|SMALL|MEDIUM|BIG)?INT(EGER)?\b/.test(declared)) return 'integer'
  if (/^(FLOAT|DOUBLE|REAL)/.test(declared)) return 'number'
  if (declared === 'DATE') return 'date'
  if (declared === 'DATETIME') return 'timestamp'
  if (/^(TEXT|BLOB|VARCHAR|CHAR|NVARCHAR|CLOB)/.test(declared)) return 'text'
  return 'infer-json'
}

/** The two undefined reference systems that every GeoPackage has (OGC 12-128r19, table 5). */
const UNDEFINED_CARTESIAN = -1
const UNDEFINED_GEOGRAPHIC = 0

function crsOf(database: DatabaseSync, { srsId, name }: Layer, file: string): string | null {
  if (srsId === null || srsId === UNDEFINED_GEOGRAPHIC) return null
  if (srsId === UNDEFINED_CARTESIAN)
    throw new SourceError(
      `${file}: layer ${name} has plane coordinates in an undefined CRS. Name it with --crs, such as --crs EPSG:25832.`,
    )
  const [srs] = query(database, 'SELECT * FROM gpkg_spatial_ref_sys WHERE srs_id = ?', srsId)
  if (!srs) return null
  const code = Number(srs['organization_coordsys_id'])
  const organization = String(srs['organization']).toUpperCase()
  const isInList = /^(EPSG|ESRI)$/.test(organization) && findEpsg(code) !== null
  // The extension gpkg_crs_wkt stores WKT 2 in a separate column, and may leave "undefined" in the other.
  const texts = [srs['definition_12_063'], srs['definition']].map((text) => String(text ?? ''))
  const definition = texts.find((text) => text.includes('['))
  return isInList || definition === undefined ? `${organization}:${code}` : definition
}

function* readRows(
  database: DatabaseSync,
  layer: Layer,
  table: TableColumn[],
  columns: SourceColumn[],
  { file, size, limits, read }: { file: string; size: number; limits: SourceLimits; read: { bytes: number } },
): Generator<(Feature | UnreadableRow)[]> {
  // A view or a generated column can make any amount of data of a small file, like a compressed file.
  const maxBytes = maxValueBytes(size, limits)
  const key = table.find(({ isKey }) => isKey)
  const selected = [
    key ? quoteName(key.name) : 'NULL',
    layer.geometryColumn === null ? 'NULL' : quoteName(layer.geometryColumn),
    ...columns.map(({ name }) => quoteName(name)),
  ]
  const statement = database.prepare(`SELECT ${selected.join(', ')} FROM ${quoteName(layer.name)}`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const geometries = new Set(table.filter(isGeometry).map(({ name }) => name))
  const converters = columns.map(({ name, type }) => {
    if (geometries.has(name)) return toWkt
    return type === 'boolean' ? toBoolean : type === 'json' ? toJson : toValue
  })
  const texts = new TextCheck(database, layer.name, selected)
  let batch: (Feature | UnreadableRow)[] = []
  let row = 0
  let yieldedBytes = 0
  for (const record of statement.iterate() as unknown as Iterable<SqliteValue[]>) {
    row++
    const rowBytes = bytesOf(record)
    if (rowBytes > limits.rowBytes)
      throw new SourceError(`${file}: row ${row} is ${largerThan(limits.rowBytes)}.`)
    read.bytes += rowBytes
    if (read.bytes > maxBytes) throw new SourceError(expandsBeyond(file, maxBytes, size))
    const geometry = readGeometry(record[1]!)
    const invalid = texts.invalidColumn(record, row)
    if (typeof geometry === 'string') batch.push({ row, problem: geometry })
    else if (invalid)
      batch.push({ row, problem: invalidText(columns[invalid.index - 2]!.name, invalid.encoding) })
    else {
      const values: Value[] = new Array(columns.length)
      for (let i = 0; i < values.length; i++) values[i] = converters[i]!(record[i + 2]!)
      batch.push({ id: toValue(record[0]!) as number | bigint | null, values, geometry, row })
    }
    if (batch.length === BATCH_ROWS || read.bytes - yieldedBytes >= BATCH_BYTES) {
      yield batch
      batch = []
      yieldedBytes = read.bytes
    }
  }
  if (batch.length > 0) yield batch
}

type SqliteValue = null | bigint | number | string | Uint8Array

/** The size of a row's values, roughly as SQLite stores them. */
function bytesOf(record: SqliteValue[]): number {
  let bytes = 0
  for (const value of record) {
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return bytes
}

function readGeometry(value: SqliteValue): Feature['geometry'] | string {
  if (value === null) return null
  if (!(value instanceof Uint8Array)) return 'the geometry is not a GeoPackage geometry'
  try {
    return readGeopackageGeometry(value)
  } catch (error) {
    if (error instanceof SourceError) return error.message
    throw error
  }
}

function toValue(value: SqliteValue): Value {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  // JSON and CSV cannot represent bytes, so they are encoded as base64, which clients expect.
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

/** Bytes that are no geometry stay bytes. */
function toWkt(value: SqliteValue): Value {
  const geometry = readGeometry(value)
  return geometry === null || typeof geometry === 'string' ? toValue(value) : writeWkt(geometry)
}

function toBoolean(value: SqliteValue): Value {
  return value === 0n ? false : value === 1n ? true : toValue(value)
}

function toJson(value: SqliteValue): Value {
  if (typeof value !== 'string') return toValue(value)
  try {
    return parseJson(value)
  } catch {
    return value
  }
}
