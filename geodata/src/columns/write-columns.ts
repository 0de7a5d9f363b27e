import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Column } from '../feature.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import { bytesFor } from './byte-planes.ts'
import { COLUMN_FILE_VERSION, directoryBytes, type Section, type StoredColumn } from './column-file.ts'
import { columnStatistics } from './column-statistics.ts'
import { type DictionaryValues, packCodes, packKeys, packTexts, valuesOfKeys } from './dictionary.ts'
import type { Keys } from './rank-values.ts'
import {
  MAX_DISTINCT_TEXTS,
  profileTexts,
  type RowsTable,
  rankFixedColumn,
  rankTexts,
} from './read-column.ts'

/**
 * Larger snapshots get no compiled columns: ranking takes up to 37 bytes of memory per row, one column at a
 * time, and a loaded column takes up to 20.
 */
export const MAX_ROWS = 20_000_000
/** In larger snapshots, a column is written before the next one is read: compressing takes up to 24 more bytes per row. */
const MAX_ROWS_FOR_TWO = 5_000_000

/** A column, and whether its integers need more than 64 bits. */
export interface SourceColumn extends Column {
  isWide: boolean
}

interface Packed {
  packed: Buffer
  size: number
}

interface RankedColumn {
  form: StoredColumn['form']
  values: DictionaryValues
  codes: Uint32Array
  counts: Uint32Array
  packDictionary: () => Promise<Packed>
}

/**
 * Writes the compiled columns of a snapshot, and returns the statistics of its columns by name. A column that
 * cannot be compiled (nested values, too many different texts) is left out of the file.
 */
export async function writeColumns(
  path: string,
  table: RowsTable,
  columns: readonly SourceColumn[],
  signal?: AbortSignal,
): Promise<Record<string, ColumnStatistics>> {
  const statistics: [name: string, ColumnStatistics][] = []
  const texts = columns.filter(isListed)
  const profiles = await profileTexts(
    table,
    texts.map(({ name }) => name),
  )
  const keys: Keys = { high: new Uint32Array(table.rows), low: new Uint32Array(table.rows) }
  const file = new ColumnsFile(await open(path, 'w'))
  // One column is compressed and written while the next one is read and ranked.
  let adding = Promise.resolve()
  try {
    for (const column of columns) {
      signal?.throwIfAborted()
      const profile = profiles[texts.indexOf(column)]
      const ranked = await rankColumn(table, column, profile?.distinct ?? 0, keys)
      if (ranked === null) {
        if (profile) statistics.push([column.name, { ...profile, isExact: false }])
        continue
      }
      statistics.push([column.name, columnStatistics(column, ranked.values, ranked.counts)])
      await adding
      adding = file.add(column, ranked)
      // If it fails, the next `await` throws; until then nobody waits for it.
      adding.catch(() => {})
      if (table.rows > MAX_ROWS_FOR_TWO) await adding
    }
    await adding
    await file.writeDirectory(table.rows)
  } finally {
    await Promise.allSettled([adding])
    await file.close()
  }
  return Object.fromEntries(statistics)
}

/** The file under construction: its columns, and then their directory. */
class ColumnsFile {
  readonly #handle: FileHandle
  readonly #stored: StoredColumn[] = []
  #at = 0

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async add({ name, type }: Column, { form, values, codes, packDictionary }: RankedColumn): Promise<void> {
    const width = bytesFor(values.length)
    const [dictionary, packedCodes] = await Promise.all([packDictionary(), packCodes(codes, width)])
    this.#stored.push({
      name,
      type,
      distinct: values.length,
      form,
      dictionary: await this.#write(dictionary),
      codes: await this.#write(packedCodes),
      width,
    })
  }

  async writeDirectory(rows: number): Promise<void> {
    const version = COLUMN_FILE_VERSION
    await this.#handle.writeFile(directoryBytes({ version, rows, columns: this.#stored }))
  }

  close(): Promise<void> {
    return this.#handle.close()
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

/** Returns null for a column that cannot be compiled. */
async function rankColumn(
  table: RowsTable,
  column: SourceColumn,
  estimate: number,
  keys: Keys,
): Promise<RankedColumn | null> {
  if (column.type === 'json') return null
  if (isListed(column)) {
    // The estimate is usually within 5 %; reading the distinct values decides.
    const ranked = estimate > MAX_DISTINCT_TEXTS * 1.3 ? null : await rankTexts(table, column)
    if (ranked === null) return null
    const { texts, codes, counts } = ranked
    return { form: 'text', values: texts, codes, counts, packDictionary: () => packTexts(texts) }
  }
  const ranked = await rankFixedColumn(table, column, keys)
  if (ranked === null) return null
  const { high, low, codes, counts } = ranked
  const isDouble = column.type === 'number'
  const values = valuesOfKeys(high, low, isDouble)
  const form = isDouble ? 'number' : 'integer'
  return { form, values, codes, counts, packDictionary: () => packKeys(high, low) }
}
