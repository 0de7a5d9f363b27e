import { dayOf, microsecondsOf } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import type { ResultValue } from '@wayleave/query'
import { geojsonToWkb, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer'
import type { ShownColumn, ShownResult } from './aggregate-body.ts'

const GEOMETRY = 'geometry'
const MAX_INTEGER = 2n ** 63n
const MAX_DECIMAL = 10n ** 38n
/** If a column is named like that. */
const FREE_GEOMETRY = 'geometry_1'

type Written = string | number | bigint | boolean | Uint8Array | null

/** A column in its Parquet type, and how a value of it is written. */
interface WrittenColumn {
  element: Omit<SchemaElement, 'name'>
  write: (value: NonNullable<ResultValue>) => Written
}

/** The groups as Parquet; with the areas of cells or zones as GeoParquet. At most one page, so it is written at once. */
export function parquetBody({ columns, rows, geometries }: ShownResult): Buffer {
  const schema: SchemaElement[] = []
  const columnData: { name: string; data: Written[] }[] = []
  for (const [i, column] of columns.entries()) {
    const values = rows.map((row) => row[i]!)
    const { element, write } = writtenColumn(column, values)
    schema.push({ name: column.name, repetition_type: 'OPTIONAL', ...element })
    columnData.push({
      name: column.name,
      data: values.map((value) => (value === null ? null : write(value))),
    })
  }
  const name = geometryName(columns)
  if (geometries) {
    schema.push({ name, repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY' })
    columnData.push({ name, data: geometries.map((geometry) => geometry && wkbOf(geometry)) })
  }
  const bytes = parquetWriteBuffer({
    columnData,
    schema: [{ name: 'root', num_children: schema.length }, ...schema],
    ...(geometries && { kvMetadata: [{ key: 'geo', value: geoText(name, geometries) }] }),
  })
  return Buffer.from(bytes)
}

export function geometryName(columns: readonly ShownColumn[]): string {
  return columns.some((column) => column.name === GEOMETRY) ? FREE_GEOMETRY : GEOMETRY
}

export function wkbOf(geometry: Geometry): Uint8Array {
  return geojsonToWkb(geometry as Parameters<typeof geojsonToWkb>[0])
}

/** GeoParquet 1.1; without a CRS, coordinates are longitude and latitude of WGS84. */
function geoText(name: string, geometries: readonly (Geometry | null)[]): string {
  const types = [...new Set(geometries.flatMap((geometry) => geometry?.type ?? []))]
  const columns = { [name]: { encoding: 'WKB', geometry_types: types } }
  return JSON.stringify({ version: '1.1.0', primary_column: name, columns })
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
