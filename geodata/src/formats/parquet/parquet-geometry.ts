import type { Geometry, Position, Value } from '../../feature.ts'
import { readWkb } from '../../geometry/wkb.ts'
import { writeWkt } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { GEOARROW_TYPES, USUAL_GEOMETRY_NAMES } from '../reading/geoarrow.ts'
import type { DescribedColumn } from './described-column.ts'
import { bytesOf, type ParquetColumn } from './parquet-column.ts'

/** The column that contains the geometry, according to the file. */
export interface ParquetGeometry {
  column: DescribedColumn
  crs: string | null
  sql: string
  /** The SQL of the bytes that it takes. */
  size: string
  read(value: unknown): Geometry | null | string
}

interface GeoMetadata {
  primary_column?: string
  columns?: { [name: string]: GeoColumn }
}

interface GeoColumn {
  encoding?: string
  crs?: object | string | null
  /** The column that holds the bounding boxes of the geometries (GeoParquet 1.1). */
  covering?: { bbox?: { xmin?: unknown[] } }
}

/** What a file's "geo" metadata says about columns other than the geometry. */
export interface OtherGeoColumns {
  /** Further columns with geometries, which become text. */
  geometries: Map<DescribedColumn, ParquetColumn>
  /** Columns of bounding boxes. The boxes are computed anew, so these are left out. */
  coverings: DescribedColumn[]
}

export function otherGeoColumns(
  metadata: string | null,
  columns: DescribedColumn[],
  primary: DescribedColumn | undefined,
  file: string,
): OtherGeoColumns {
  const geo = metadata === null ? null : parseMetadata(metadata, file)
  const geometries = new Map<DescribedColumn, ParquetColumn>()
  const coverings = new Set<DescribedColumn>()
  for (const [name, { encoding = 'WKB', covering }] of Object.entries(geo?.columns ?? {})) {
    const box = covering?.bbox?.xmin?.[0]
    const boxes = columns.find((column) => column.name === box && column.type.startsWith('STRUCT('))
    if (boxes) coverings.add(boxes)
    const described = columns.find((column) => column.name === name)
    if (!described || described === primary) continue
    const { sql, size, read } = reading(described, encoding, file)
    const note = `Column ${name} is another geometry: it is kept as WKT text, with the coordinates that it has in the file.`
    const convert = (value: unknown) => wktOf(value, read)
    geometries.set(described, { name, type: 'text', sql, size, convert, note })
  }
  return { geometries, coverings: [...coverings] }
}

/** Bytes that are not a geometry stay bytes, which are published as base64 like other bytes. */
function wktOf(value: unknown, read: ParquetGeometry['read']): Value {
  const geometry = value === null ? null : read(value)
  if (geometry === null) return null
  if (typeof geometry !== 'string') return writeWkt(geometry)
  const bytes = bytesOf(value)
  return bytes === null ? String(value) : Buffer.from(bytes).toString('base64')
}

export function findParquetGeometry(
  metadata: string | null,
  columns: DescribedColumn[],
  file: string,
): ParquetGeometry | null {
  const geo = metadata === null ? null : parseMetadata(metadata, file)
  const primary = geo?.primary_column ?? Object.keys(geo?.columns ?? {})[0]
  if (geo && primary !== undefined) {
    const column = columns.find(({ name }) => name === primary)
    if (column === undefined)
      throw new SourceError(`${file} says that its geometry is in ${primary}, but has no such column.`)
    const { encoding = 'WKB', crs } = geo.columns?.[primary] ?? {}
    return { column, crs: crsOf(crs), ...reading(column, encoding, file) }
  }
  // Without metadata: Parquet's own geometry type, or bytes under a usual name that begin like WKB.
  const native = columns.find(({ type }) => type.startsWith('GEOMETRY'))
  if (native) {
    const crs = native.nativeCrs ?? 'OGC:CRS84'
    return { column: native, crs, ...reading(native, 'WKB', file) }
  }
  const bytes = columns.find(({ name, type }) => type === 'BLOB' && USUAL_GEOMETRY_NAMES.test(name))
  return bytes ? { column: bytes, crs: null, ...reading(bytes, 'WKB', file) } : null
}

function parseMetadata(metadata: string, file: string): GeoMetadata {
  try {
    return JSON.parse(metadata)
  } catch {
    throw new SourceError(`${file} has "geo" metadata that is not valid JSON.`)
  }
}

/**
 * Absent means longitude and latitude in WGS84, null means unknown (GeoParquet 1.1). GeoParquet before 0.4
 * states WKT 2, later versions PROJJSON.
 */
function crsOf(crs: object | string | null | undefined): string | null {
  if (crs === undefined) return 'OGC:CRS84'
  if (crs === null) return null
  return typeof crs === 'string' ? crs : JSON.stringify(crs)
}

function reading(
  { id, type }: DescribedColumn,
  encoding: string,
  file: string,
): Pick<ParquetGeometry, 'sql' | 'size' | 'read'> {
  if (/^WKB$/i.test(encoding)) {
    const sql = type.startsWith('GEOMETRY') ? `ST_AsWKB(${id})` : id
    return { sql, size: `octet_length(${sql})`, read: fromWkb }
  }
  const native = GEOARROW_TYPES[encoding.toLowerCase()]
  if (!native) throw new SourceError(`${file} encodes its geometry as ${encoding}, which is not known.`)
  const sql = `CAST(to_json(${id}) AS VARCHAR)`
  return {
    sql,
    size: `strlen(${sql})`,
    read: (value) => ({ type: native, coordinates: positions(parseNested(String(value))) }) as Geometry,
  }
}

/** DuckDB writes numbers that are not finite without quotes. An empty point has NaN for its coordinates. */
function parseNested(text: string): Value {
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(text.replace(/\bNaN\b/g, 'null').replace(/\bInfinity\b/g, '1e999'))
  }
}

function fromWkb(value: unknown): Geometry | string {
  const bytes = bytesOf(value)
  if (!bytes) return 'the geometry is not WKB'
  try {
    return readWkb(bytes)
  } catch (error) {
    if (error instanceof SourceError) return error.message
    throw error
  }
}

type Nested = Position | Nested[]

function positions(value: Value): Nested {
  if (Array.isArray(value)) return value.map(positions)
  const { x, y, z } = value as { x: number | null; y: number | null; z?: number | null }
  if (x === null || y === null) return []
  return typeof z === 'number' ? [x, y, z] : [x, y]
}
