import { open } from 'node:fs/promises'
import type { DuckDBInstance } from '@duckdb/node-api'
import type { Column } from '../feature.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import type { PlaneMemory } from './byte-planes.ts'
import { SEGMENT_ROWS } from './column-file.ts'
import { ColumnKeys, doublesOfKeys, integersOfKeys } from './column-keys.ts'
import { columnStatistics } from './column-statistics.ts'
import { ColumnsFile, type RankedColumn } from './columns-file.ts'
import { MAX_LISTED_ROWS } from './compiled-column.ts'
import { packKeys, packTexts } from './dictionary.ts'
import { Ranking } from './rank-values.ts'
import {
  MAX_DISTINCT_TEXTS,
  profileTexts,
  type RankedTexts,
  type RowsTable,
  rankTexts,
  readKeys,
  type TextProfile,
} from './read-column.ts'
import { writeLargeColumns } from './write-large-columns.ts'

/**
 * The columns of larger snapshots are ranked by the database: ranking them here takes up to 32 bytes of memory per
 * row, reading at least 9 and writing up to 28.
 */
const MAX_RANKED_ROWS = 20_000_000
/** Columns are read together as long as their keys take less memory than this, in bytes. */
const KEYS_BYTES = 64 << 20
const KEYS_BYTES_PER_ROW = 9

/** A column, and whether its integers need more than 64 bits. */
export interface SourceColumn extends Column {
  isWide: boolean
}

/** The rows of a snapshot in a database. */
export interface RowsSource {
  instance: DuckDBInstance
  /** The rows in SQL, such as `read_parquet('…')`. */
  from: string
  rows: number
}

/**
 * Writes the compiled columns of a snapshot, and returns the statistics of its columns by name. A column that
 * cannot be compiled (nested values, too many different texts) is left out of the file.
 */
export async function writeColumns(
  path: string,
  { instance, from, rows }: RowsSource,
  columns: readonly SourceColumn[],
  signal?: AbortSignal,
  // Tests pass smaller numbers.
  { segmentRows = SEGMENT_ROWS, maxRanked = MAX_RANKED_ROWS, maxListed = MAX_LISTED_ROWS } = {},
): Promise<Record<string, ColumnStatistics>> {
  const file = new ColumnsFile(await open(path, 'w+'), rows, segmentRows, rows > maxListed)
  const statistics = new Map<string, ColumnStatistics>()
  const connections = [await instance.connect(), await instance.connect()] as const
  const interrupt = () => {
    for (const connection of connections) connection.interrupt()
  }
  signal?.addEventListener('abort', interrupt)
  const tables = connections.map((connection): RowsTable => ({ connection, from, rows }))
  const texts = columns.filter(isListed)
  const fixed = columns.filter((column) => !isListed(column) && column.type !== 'json')
  const isLarge = rows > maxRanked
  // The database estimates the numbers of texts while values of a fixed size are ranked here.
  const profiling = isLarge ? Promise.resolve([]) : profileTexts(tables[0]!, texts)
  profiling.catch(() => {})
  try {
    signal?.throwIfAborted()
    const add = async (column: Column, ranked: RankedColumn) => {
      statistics.set(column.name, columnStatistics(column, ranked.values, ranked.counts))
      await file.add(column, ranked)
      signal?.throwIfAborted()
    }
    if (isLarge) {
      await writeLargeColumns(tables[1]!, { texts, fixed }, file, statistics, signal)
    } else {
      await writeFixedColumns(tables[1]!, fixed, add)
      await writeTextColumns(tables[1]!, texts, await profiling, statistics, add)
    }
    await file.finish()
  } finally {
    // It may not run any more when its connection is closed.
    await Promise.allSettled([profiling])
    signal?.removeEventListener('abort', interrupt)
    for (const connection of connections) connection.closeSync()
    await file.close()
  }
  return Object.fromEntries(
    columns.flatMap(({ name }) => {
      const own = statistics.get(name)
      return own ? [[name, own]] : []
    }),
  )
}

type Add = (column: Column, ranked: RankedColumn) => Promise<void>

/** Whether the dictionary is a list of texts. */
function isListed({ type, isWide }: SourceColumn): boolean {
  return type === 'text' || (type === 'integer' && isWide)
}

/** Ranks columns of texts; those with too many different ones only get statistics, and too large ones nothing. */
async function writeTextColumns(
  table: RowsTable,
  columns: readonly Column[],
  profiles: readonly (TextProfile | null)[],
  statistics: Map<string, ColumnStatistics>,
  add: Add,
): Promise<void> {
  for (const [i, column] of columns.entries()) {
    const profile = profiles[i] ?? null
    if (profile === null) continue
    // The estimate is usually within 5 %; reading the distinct values decides.
    const ranked = profile.distinct > MAX_DISTINCT_TEXTS * 1.3 ? null : await rankTextsThatFit(table, column)
    if (ranked === null) {
      statistics.set(column.name, { ...profile, isExact: false })
      continue
    }
    const { texts, codes, counts } = ranked
    await add(column, { form: 'text', values: texts, codes, counts, packDictionary: () => packTexts(texts) })
  }
}

/** Ranks texts; null also if they are too large for the memory of the database. */
async function rankTextsThatFit(table: RowsTable, column: Column): Promise<RankedTexts | null> {
  try {
    return await rankTexts(table, column)
  } catch (error) {
    if (isOutOfMemory(error)) return null
    throw error
  }
}

/** Ranks columns whose values have a fixed size. `add` has used the arrays of a column when it returns. */
async function writeFixedColumns(table: RowsTable, columns: readonly Column[], add: Add): Promise<void> {
  if (columns.length === 0) return
  const fitting = Math.max(1, Math.floor(KEYS_BYTES / KEYS_BYTES_PER_ROW / Math.max(1, table.rows)))
  const keys = Array.from({ length: Math.min(columns.length, fitting) }, () => new ColumnKeys(table.rows))
  const ranking = new Ranking(table.rows)
  const room = new Float64Array(table.rows)
  for (let at = 0; at < columns.length; at += keys.length) {
    const batch = columns.slice(at, at + keys.length)
    await readKeys(table, batch, keys)
    for (const [i, column] of batch.entries()) {
      // Such numbers are not published; a column that has them is left to the database.
      if (!keys[i]!.areFinite) continue
      const { high, low, codes, counts } = ranking.rank(keys[i]!)
      const packDictionary = (memory: PlaneMemory) => packKeys(high, low, memory)
      const ranked = { codes, counts, packDictionary }
      const values = room.subarray(0, high.length)
      if (column.type === 'number') {
        await add(column, { form: 'number', values: doublesOfKeys(high, low, values), ...ranked })
      } else {
        await add(column, { form: 'integer', values: integersOfKeys(high, low, values), ...ranked })
      }
    }
  }
}
