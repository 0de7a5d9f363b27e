import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { DuckDBInstance } from '@duckdb/node-api'
import type { Column } from '../feature.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import { bytesFor, PlaneMemory } from './byte-planes.ts'
import { COLUMN_FILE_VERSION, directoryBytes, type Section, type StoredColumn } from './column-file.ts'
import { ColumnKeys, doublesOfKeys, integersOfKeys } from './column-keys.ts'
import { columnStatistics } from './column-statistics.ts'
import { type DictionaryValues, type Packed, packCodes, packKeys, packTexts } from './dictionary.ts'
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

/**
 * Larger snapshots get no compiled columns: ranking takes up to 32 bytes of memory per row, reading at least 9
 * and writing up to 28, and a loaded column takes up to 20.
 */
export const MAX_ROWS = 20_000_000
/** In larger snapshots, only one column is in memory at a time. */
const MAX_ROWS_FOR_TWO = 5_000_000
/** Columns are read together as long as their keys take less memory than this, in bytes. */
const KEYS_BYTES = 64 << 20
const KEYS_BYTES_PER_ROW = 9
/** A dictionary has eight bytes per value, and at most as many values as there are rows. */
const MAX_PLANES = 8

/** A column, and whether its integers need more than 64 bits. */
export interface SourceColumn extends Column {
  isWide: boolean
}

interface RankedColumn {
  form: StoredColumn['form']
  values: DictionaryValues
  codes: Uint32Array
  counts: Uint32Array
  packDictionary: (memory: PlaneMemory) => Promise<Packed>
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
): Promise<Record<string, ColumnStatistics>> {
  const file = new ColumnsFile(await open(path, 'w'), rows)
  const statistics = new Map<string, ColumnStatistics>()
  const connections = [await instance.connect(), await instance.connect()] as const
  const interrupt = () => {
    for (const connection of connections) connection.interrupt()
  }
  signal?.addEventListener('abort', interrupt)
  const tables = connections.map((connection): RowsTable => ({ connection, from, rows }))
  const texts = columns.filter(isListed)
  const fixed = columns.filter((column) => !isListed(column) && column.type !== 'json')
  // The database estimates the numbers of texts while values of a fixed size are ranked here.
  const profiling = profileTexts(tables[0]!, texts)
  profiling.catch(() => {})
  try {
    signal?.throwIfAborted()
    const add = async (column: Column, ranked: RankedColumn) => {
      statistics.set(column.name, columnStatistics(column, ranked.values, ranked.counts))
      await file.add(column, ranked)
      signal?.throwIfAborted()
    }
    await writeFixedColumns(tables[1]!, fixed, add)
    await writeTextColumns(tables[1]!, texts, await profiling, statistics, add)
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

/** The file under construction: its columns, and then their directory. */
class ColumnsFile {
  readonly #handle: FileHandle
  readonly #rows: number
  readonly #memory: PlaneMemory
  readonly #stored: StoredColumn[] = []
  #at = 0
  /** The end of the last column that was added. */
  #adding: Promise<void> = Promise.resolve()

  constructor(handle: FileHandle, rows: number) {
    this.#handle = handle
    this.#rows = rows
    this.#memory = new PlaneMemory(rows * MAX_PLANES, rows <= MAX_ROWS_FOR_TWO)
  }

  /**
   * Compresses a column, and writes it behind the others. Returns when the column before it is written, and when
   * the arrays of this one are no longer needed: it is compressed while the next one is ranked.
   */
  async add(column: Column, { form, values, codes, packDictionary }: RankedColumn): Promise<void> {
    const width = bytesFor(values.length)
    const packing = Promise.all([packDictionary(this.#memory), packCodes(codes, width, this.#memory)])
    const previous = this.#adding
    this.#adding = previous.then(async () => {
      const [dictionary, packedCodes] = await packing
      this.#stored.push({
        name: column.name,
        type: column.type,
        distinct: values.length,
        form,
        dictionary: await this.#write(dictionary),
        codes: await this.#write(packedCodes),
        width,
      })
    })
    // If one of them fails, the next `await` throws; until then nobody waits for it.
    packing.catch(() => {})
    this.#adding.catch(() => {})
    await (this.#rows > MAX_ROWS_FOR_TWO ? this.#adding : previous)
  }

  async finish(): Promise<void> {
    await this.#adding
    const directory = { version: COLUMN_FILE_VERSION, rows: this.#rows, columns: this.#stored } as const
    await this.#handle.writeFile(directoryBytes(directory))
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#adding])
    await this.#handle.close()
  }

  async #write({ packed, size }: Packed): Promise<Section> {
    const section = { at: this.#at, bytes: packed.length, crc32: crc32(packed), size }
    await this.#handle.writeFile(packed)
    this.#at += packed.length
    return section
  }
}

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
