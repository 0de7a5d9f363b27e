import type { Column } from '../feature.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import { PlaneMemory } from './byte-planes.ts'
import { ColumnKeys, doublesOfKeys, integersOfKeys } from './column-keys.ts'
import { columnStatistics } from './column-statistics.ts'
import type { ColumnsFile } from './columns-file.ts'
import { packKeys, packTexts } from './dictionary.ts'
import { KeyCodes } from './key-codes.ts'
import {
  eachValue,
  MAX_DISTINCT_TEXTS,
  profileTexts,
  type RowsTable,
  rankTextsInParts,
  readDistinct,
} from './read-column.ts'

/** Columns with more different values are left to the database: their dictionary alone takes 32 MB. */
const MAX_DISTINCT_KEYS = 1 << 22
/** The max rows that the database passes on at once. */
const CHUNK_ROWS = 2048

/**
 * Writes columns of any number of rows in bounded memory: the database finds the distinct values, then the rows are
 * read in order, and their codes are written segment by segment. A column with too many different values only gets
 * statistics.
 */
export async function writeLargeColumns(
  table: RowsTable,
  { texts, fixed }: { texts: readonly Column[]; fixed: readonly Column[] },
  file: ColumnsFile,
  statistics: Map<string, ColumnStatistics>,
  signal?: AbortSignal,
): Promise<void> {
  const profiles = await profileTexts(table, [...fixed, ...texts])
  for (const [i, column] of [...fixed, ...texts].entries()) {
    signal?.throwIfAborted()
    const profile = profiles[i] ?? null
    if (profile === null) continue
    const isFixed = i < fixed.length
    // The estimate is usually within 5 %; reading the distinct values decides.
    const isFew = profile.distinct <= (isFixed ? MAX_DISTINCT_KEYS : MAX_DISTINCT_TEXTS) * 1.3
    const write = isFixed ? writeKeys : writeTexts
    const own = isFew ? await fitting(write(table, column, file)) : null
    statistics.set(column.name, own ?? { ...profile, isExact: false })
  }
}

/** Null also if the values are too large for the memory of the database. */
async function fitting<T>(writing: Promise<T>): Promise<T | null> {
  try {
    return await writing
  } catch (error) {
    if (isOutOfMemory(error)) return null
    throw error
  }
}

async function writeTexts(
  table: RowsTable,
  column: Column,
  file: ColumnsFile,
): Promise<ColumnStatistics | null> {
  let segments: ReturnType<ColumnsFile['segments']> | null = null
  const ranked = await rankTextsInParts(table, column, (codes, distinct) => {
    segments ??= file.segments(distinct + 1)
    return segments.add(codes)
  })
  if (ranked === null) return null
  const { texts, counts } = ranked
  segments ??= file.segments(1)
  await file.addSegments(column, 'text', await packTexts(texts), segments, counts)
  return columnStatistics(column, texts, counts)
}

async function writeKeys(
  table: RowsTable,
  column: Column,
  file: ColumnsFile,
): Promise<ColumnStatistics | null> {
  const keys = new ColumnKeys(MAX_DISTINCT_KEYS)
  const distinctKeys = await readDistinct(table, column, keys)
  if (distinctKeys === null) return null
  const distinct = distinctKeys.counts.length - 1
  const segments = file.segments(distinct + 1)
  const codesOf = new KeyCodes(keys, distinct)
  const rows = new ColumnKeys(CHUNK_ROWS)
  const codes = new Uint32Array(CHUNK_ROWS)
  await eachValue(table, column, async (words, isNull) => {
    for (let from = 0; from < isNull.length; from += CHUNK_ROWS) {
      const part = words.subarray(from * 2, (from + CHUNK_ROWS) * 2)
      rows.clear(false)
      if (column.type === 'number') rows.addDoubles(part, null)
      else rows.addIntegers(part, null)
      codesOf.find(rows, isNull.subarray(from), codes, 0)
      await segments.add(codes.subarray(0, rows.rows))
    }
  })
  const [high, low] = [keys.high.subarray(0, distinct), keys.low.subarray(0, distinct)]
  const packed = await packKeys(high, low, new PlaneMemory(0, false))
  const isNumber = column.type === 'number'
  const values = isNumber ? doublesOfKeys(high, low) : integersOfKeys(high, low)
  await file.addSegments(column, isNumber ? 'number' : 'integer', packed, segments, distinctKeys.counts)
  return columnStatistics(column, values, distinctKeys.counts)
}
