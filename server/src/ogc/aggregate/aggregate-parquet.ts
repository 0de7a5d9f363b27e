import { dayOf, microsecondsOf } from '@wayleave/geodata/features'
import type { ResultValue, TimedWork } from '@wayleave/query'
import { ByteWriter, parquetWrite, type SchemaElement } from 'hyparquet-writer'
import type { ShownColumn, ShownResult } from './aggregate-body.ts'

const GEOMETRY = 'geometry'
const MAX_INTEGER = 2n ** 63n
const MAX_DECIMAL = 10n ** 38n
/** Values that are converted between two looks at the clock. */
const STEP = 1024
/** Values of a row group, which is written without a pause; so many bytes of a geometry count as one. */
const GROUP_VALUES = 4096
const VALUE_BYTES = 256
const WKB_TYPES = [
  'Geometry',
  ...['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'],
  'GeometryCollection',
]
/** If a column is named like that. */
const FREE_GEOMETRY = 'geometry_1'

type Written = string | number | bigint | boolean | Uint8Array | null

/** A column in its Parquet type, and how a value of it is written. */
interface WrittenColumn {
  element: Omit<SchemaElement, 'name'>
  write: (value: NonNullable<ResultValue>) => Written
}

/** The groups as Parquet; with the areas of cells or zones as GeoParquet. Written in time slices, one in each row group. */
export async function parquetBody(
  { columns, rows, geometries }: ShownResult,
  work: TimedWork,
): Promise<Buffer> {
  const schema: SchemaElement[] = []
  const columnData: { name: string; data: Written[]; codec?: 'UNCOMPRESSED' }[] = []
  for (const [i, column] of columns.entries()) {
    const values = rows.map((row) => row[i]!)
    const { element, write } = writtenColumn(column, values)
    schema.push({ name: column.name, repetition_type: 'OPTIONAL', ...element })
    const data: Written[] = []
    await work.inSteps(values.length, STEP, (from, to) => {
      for (const value of values.slice(from, to)) data.push(value === null ? null : write(value))
    })
    columnData.push({ name: column.name, data })
  }
  const name = geometryName(columns)
  if (geometries) {
    schema.push({ name, repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY' })
    // Compressing a large area would take long, and makes coordinates hardly smaller.
    columnData.push({ name, data: geometries, codec: 'UNCOMPRESSED' })
  }
  const writer = Object.assign(new ByteWriter(), { flush: () => work.next() })
  await parquetWrite({
    writer,
    columnData,
    schema: [{ name: 'root', num_children: schema.length }, ...schema],
    rowGroupSize: rowGroups(rows.length, columnData.length, geometries),
    ...(geometries && { kvMetadata: [{ key: 'geo', value: geoText(name, geometries) }] }),
  })
  const bytes = writer.getBytes()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The number of rows of each row group, so that none has too much. */
function rowGroups(rows: number, columns: number, geometries: ShownResult['geometries']): number[] {
  const groups: number[] = []
  let count = 0
  let values = 0
  for (let row = 0; row < rows; row++) {
    count++
    values += columns + (geometries?.[row]?.length ?? 0) / VALUE_BYTES
    if (values < GROUP_VALUES) continue
    groups.push(count)
    count = values = 0
  }
  return count > 0 || groups.length === 0 ? [...groups, Math.max(1, count)] : groups
}

export function geometryName(columns: readonly ShownColumn[]): string {
  return columns.some((column) => column.name === GEOMETRY) ? FREE_GEOMETRY : GEOMETRY
}

/** GeoParquet 1.1; without a CRS, coordinates are longitude and latitude of WGS84. */
function geoText(name: string, geometries: readonly (Uint8Array | null)[]): string {
  const types = [...new Set(geometries.flatMap((wkb) => (wkb === null ? [] : typeOf(wkb))))]
  const columns = { [name]: { encoding: 'WKB', geometry_types: types } }
  return JSON.stringify({ version: '1.1.0', primary_column: name, columns })
}

/** The number of a type in well-known binary, with 1000 added for heights, follows its byte order. */
function typeOf(wkb: Uint8Array): string {
  const view = new DataView(wkb.buffer, wkb.byteOffset)
  const number = view.getUint32(1, wkb[0] === 1)
  return WKB_TYPES[number % 1000]! + (number > 1000 ? ' Z' : '')
}

function writtenColumn({ type }: ShownColumn, values: readonly ResultValue[]): WrittenColumn {
  switch (type) {
    case 'boolean':
      return { element: { type: 'BOOLEAN' }, write: (value) => value as boolean }
    case 'integer':
      return integerColumn(values)
    case 'number':
      return { element: { type: 'DOUBLE' }, write: Number }
    case 'date':
      return {
        element: { type: 'INT32', converted_type: 'DATE' },
        write: (value) => dayOf(value as string),
      }
    case 'timestamp':
      return {
        element: {
          type: 'INT64',
          converted_type: 'TIMESTAMP_MICROS',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        },
        write: (value) => microsecondsOf((value as string).slice(0, -1)),
      }
    case 'text':
      return { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, write: String }
  }
}

/** Sums may need more than 64 bits; those of more than 38 digits are texts. */
export function integerWidth(values: readonly ResultValue[]): 'int64' | 'decimal' | 'text' {
  let largest = 0n
  for (const value of values) {
    const integer = value === null ? 0n : BigInt(value)
    const size = integer < 0n ? -integer : integer
    if (size > largest) largest = size
  }
  return largest < MAX_INTEGER ? 'int64' : largest < MAX_DECIMAL ? 'decimal' : 'text'
}

function integerColumn(values: readonly ResultValue[]): WrittenColumn {
  switch (integerWidth(values)) {
    case 'int64':
      return { element: { type: 'INT64' }, write: (value) => BigInt(value) }
    case 'text':
      return { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, write: String }
    case 'decimal':
      return {
        element: {
          type: 'FIXED_LEN_BYTE_ARRAY',
          type_length: 16,
          converted_type: 'DECIMAL',
          precision: 38,
          scale: 0,
        },
        write: (value) => BigInt(value),
      }
  }
}
