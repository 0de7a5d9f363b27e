import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { wideDecimalsNote } from '../reading/exact-decimals.ts'
import type { ParquetColumn } from './parquet-column.ts'
import { columnElements, type SchemaElement } from './schema-element.ts'

/** The most digits that DuckDB's decimals have. It reads wider ones as doubles, and many of them wrongly. */
export const DATABASE_DIGITS = 38

export interface WideDecimal {
  /** Its place among the columns of the file. */
  place: number
  name: string
  digits: number
  scale: number
}

/** More digits than any decimals have. Their texts are as long as the schema says, whatever the values are. */
const MAX_DIGITS = 1000

/** The columns with decimals that DuckDB cannot read, and the places of columns that have such inside. */
export function findWideDecimals(schema: SchemaElement[]): { columns: WideDecimal[]; nested: number[] } {
  const columns: WideDecimal[] = []
  const nested: number[] = []
  for (const [place, [column, ...inner]] of columnElements(schema).entries()) {
    const { name, digits, scale } = column!
    if (Math.max(digits ?? 0, Math.abs(scale ?? 0)) > MAX_DIGITS)
      throw new SourceError(`Column ${name} has decimals of more than ${MAX_DIGITS} digits.`)
    if (isWide(column!)) columns.push({ place, name, digits: digits!, scale: scale ?? 0 })
    else if (inner.some(isWide)) nested.push(place)
  }
  return { columns, nested }
}

function isWide({ digits }: SchemaElement): boolean {
  return digits !== null && digits > DATABASE_DIGITS
}

/** Integers stay integers; decimals become text, because a number does not hold that many digits. */
export function wideDecimalColumn({ name, digits, scale }: WideDecimal): ParquetColumn {
  const exact = {
    contents: `decimals of more than ${DATABASE_DIGITS} digits`,
    decode: (value: unknown) => decimal(value as Uint8Array | null | undefined, scale),
  }
  // The values do not come from the database, which only counts the rows.
  const column = { name, sql: 'NULL', convert: (value: unknown) => value as Value, exact }
  if (scale === 0) return { ...column, type: 'integer' }
  return { ...column, type: 'text', note: wideDecimalsNote(name, digits) }
}

/** A big-endian two's complement number of any size, divided by ten to the power of `scale`. */
function decimal(bytes: Uint8Array | null | undefined, scale: number): Value {
  if (bytes === null || bytes === undefined || bytes.length === 0) return null
  if (bytes.length > MAX_DIGITS) throw new SourceError(`A decimal has ${bytes.length} bytes.`)
  const unsigned = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const value = BigInt.asIntN(bytes.length * 8, unsigned)
  if (scale === 0) {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
