import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Column } from '../feature.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import { bytesFor } from './byte-planes.ts'
import { COLUMN_FILE_VERSION, directoryBytes, type Section, type StoredColumn } from './column-file.ts'
import { ColumnKeys, doublesOfKeys, integersOfKeys } from './column-keys.ts'
import { columnStatistics } from './column-statistics.ts'
import { type DictionaryValues, packCodes, packKeys, packTexts } from './dictionary.ts'
import { Ranking } from './rank-values.ts'
import {
  MAX_DISTINCT_TEXTS,
  profileTexts,
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
/** In larger snapshots, a column is written before the next one is ranked. */
const MAX_ROWS_FOR_TWO = 5_000_000
/** Columns are read together as long as their keys take less memory than this, in bytes. */
const KEYS_BYTES = 64 << 20
const KEYS_BYTES_PER_ROW = 9

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
  const statistics = new Map<string, ColumnStatistics>()
  const file = new ColumnsFile(await open(path, 'w'))
  // One column is compressed and written while the next one is ranked.
  let adding = Promise.resolve()
  const add = async (column: Column, ranked: RankedColumn) => {
    statistics.set(column.name, columnStatistics(column, ranked.values, ranked.counts))
    await adding
    adding = file.add(column, ranked)
    // If it fails, the next `await` throws; until then nobody waits for it.
    adding.catch(() => {})
    if (table.rows > MAX_ROWS_FOR_TWO) await adding
    signal?.throwIfAborted()
  }
  try {
    const listed = columns.filter(isListed)
    const profiles = await profileTexts(table, listed)
    for (const [i, column] of listed.entries()) {
      const ranked = await rankTextColumn(table, column, profiles[i]!)
      if (ranked) await add(column, ranked)
      else statistics.set(column.name, { ...profiles[i]!, isExact: false })
    }
    await rankFixedColumns(
      table,
      columns.filter((column) => !isListed(column) && column.type !== 'json'),
      add,
    )
    await adding
    await file.writeDirectory(table.rows)
  } finally {
    await Promise.allSettled([adding])
    await file.close()
  }
  return Object.fromEntries(
    columns.flatMap(({ name }) => {
      const own = statistics.get(name)
      return own ? [[name, own]] : []
    }),
  )
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

/** Returns null if there are too many different texts. */
async function rankTextColumn(
  table: RowsTable,
  column: Column,
  { distinct }: TextProfile,
): Promise<RankedColumn | null> {
  // The estimate is usually within 5 %; reading the distinct values decides.
  const ranked = distinct > MAX_DISTINCT_TEXTS * 1.3 ? null : await rankTexts(table, column)
  if (ranked === null) return null
  const { texts, codes, counts } = ranked
  return { form: 'text', values: texts, codes, counts, packDictionary: () => packTexts(texts) }
}

/** Ranks columns whose values have a fixed size, and passes each to `add`, which has used its arrays when it returns. */
async function rankFixedColumns(
  table: RowsTable,
  columns: readonly Column[],
  add: (column: Column, ranked: RankedColumn) => Promise<void>,
): Promise<void> {
  if (columns.length === 0) return
  const fitting = Math.max(1, Math.floor(KEYS_BYTES / KEYS_BYTES_PER_ROW / Math.max(1, table.rows)))
  const keys = Array.from({ length: Math.min(columns.length, fitting) }, () => new ColumnKeys(table.rows))
  const ranking = new Ranking(table.rows)
  for (let at = 0; at < columns.length; at += keys.length) {
    const batch = columns.slice(at, at + keys.length)
    await readKeys(table, batch, keys)
    for (const [i, column] of batch.entries()) {
      // Such numbers are not published; a column that has them is left to the database.
      if (!keys[i]!.areFinite) continue
      const { high, low, codes, counts } = ranking.rank(keys[i]!)
      const packDictionary = () => packKeys(high, low)
      const ranked = { codes, counts, packDictionary }
      if (column.type === 'number') {
        await add(column, { form: 'number', values: doublesOfKeys(high, low), ...ranked })
      } else {
        await add(column, { form: 'integer', values: integersOfKeys(high, low), ...ranked })
      }
    }
  }
}
