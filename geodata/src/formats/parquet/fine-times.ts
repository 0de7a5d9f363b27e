import { nanosecondText } from '../../calendar.ts'
import { SourceError } from '../../source-error.ts'
import type { DescribedColumn } from './described-column.ts'
import { ExactColumns } from './exact-columns.ts'
import type { ParquetColumn } from './parquet-column.ts'
import { columnElements, type SchemaElement } from './schema-element.ts'

const CONTENTS = 'times in nanoseconds'
/** How many rows are searched at once. */
const CHUNK_ROWS = 122_880

/** Columns of times in nanoseconds that DuckDB cuts to microseconds, by their places. */
export interface FineTimes {
  /** Those that have digits below a microsecond. */
  fine: number[]
  /** Those of which this is not known, because only DuckDB can read them. */
  unknown: number[]
}

export async function findFineTimes(
  path: string,
  file: string,
  schema: SchemaElement[],
  rows: number,
): Promise<FineTimes> {
  const columns = columnElements(schema).map(([column]) => column!)
  const times: FineTimes = { fine: [], unknown: [] }
  for (const [place, { name, isCutTime }] of columns.entries()) {
    if (!isCutTime) continue
    const isUnique = columns.filter((column) => column.name === name).length === 1
    const isFine = isUnique ? await hasFineTimes(path, file, name, rows) : null
    if (isFine === null) times.unknown.push(place)
    else if (isFine) times.fine.push(place)
  }
  return times
}

/** The places of columns that have such times inside of lists or structures. */
export function findNestedCutTimes(schema: SchemaElement[]): number[] {
  return [...columnElements(schema).entries()].flatMap(([place, [, ...inner]]) =>
    inner.some(({ isCutTime }) => isCutTime) ? [place] : [],
  )
}

/** Null if the column is compressed in a way that only DuckDB reads. */
async function hasFineTimes(path: string, file: string, name: string, rows: number): Promise<boolean | null> {
  const decode = (value: unknown) => typeof value === 'bigint' && value % 1000n !== 0n
  try {
    const column = await ExactColumns.open(path, file, [{ name, contents: CONTENTS, decode }])
    try {
      for (let row = 0; row < rows; row += CHUNK_ROWS) {
        const [areFine] = await column.read(row, Math.min(CHUNK_ROWS, rows - row))
        if (areFine!.includes(true)) return true
      }
      return false
    } finally {
      await column.close()
    }
  } catch (error) {
    if (error instanceof SourceError) return null
    throw error
  }
}

/** A column whose values are texts with all digits, so that it is published as text. */
export function fineTimeColumn({ name, type }: DescribedColumn): ParquetColumn {
  // INT96 states no zone. Such a time is written as DuckDB writes others without a zone.
  const text = (value: bigint) =>
    type.endsWith('TIME ZONE') ? nanosecondText(value) : nanosecondText(value).replace('T', ' ').slice(0, -1)
  const decode = (value: unknown) => (typeof value === 'bigint' ? text(value) : null)
  return {
    name,
    type: 'timestamp',
    // The values do not come from the database, which only counts the rows.
    sql: 'NULL',
    convert: (value) => value as string | null,
    exact: { contents: CONTENTS, decode },
  }
}

export function cutTimesNote({ name }: DescribedColumn): string {
  return `Column ${name} has times in nanoseconds, which could not be read exactly: they are cut to microseconds.`
}

export function nestedCutTimesNote({ name }: DescribedColumn): string {
  return `Column ${name} has times in nanoseconds inside lists or structures: they are cut to microseconds.`
}
