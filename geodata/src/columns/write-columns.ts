import { open } from 'node:fs/promises'
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

/** A column, and whether its integers need more than 64 bits. */
export interface SourceColumn extends Column {
  isWide: boolean
}

interface PackedColumn {
  column: Column
  form: StoredColumn['form']
  values: DictionaryValues
  counts: Uint32Array
  dictionary: { packed: Buffer; size: number }
  codes: { packed: Buffer; size: number }
  width: number
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
  const stored: StoredColumn[] = []
  const texts = columns.filter(isListed)
  const profiles = await profileTexts(
    table,
    texts.map(({ name }) => name),
  )
  const keys: Keys = { high: new Uint32Array(table.rows), low: new Uint32Array(table.rows) }
  const file = await open(path, 'w')
  try {
    let at = 0
    const write = async ({ packed, size }: { packed: Buffer; size: number }): Promise<Section> => {
      const section = { at, bytes: packed.length, crc32: crc32(packed), size }
      await file.writeFile(packed)
      at += packed.length
      return section
    }
    for (const column of columns) {
      signal?.throwIfAborted()
      const profile = profiles[texts.indexOf(column)]
      const packed = await packColumn(table, column, profile?.distinct ?? 0, keys)
      if (packed === null) {
        if (profile) statistics.push([column.name, { ...profile, isExact: false }])
        continue
      }
      const { form, values, width, counts } = packed
      const dictionary = await write(packed.dictionary)
      const codes = await write(packed.codes)
      const { name, type } = column
      stored.push({ name, type, distinct: values.length, form, dictionary, codes, width })
      statistics.push([name, columnStatistics(column, values, counts)])
    }
    const { rows } = table
    await file.writeFile(directoryBytes({ version: COLUMN_FILE_VERSION, rows, columns: stored }))
  } finally {
    await file.close()
  }
  return Object.fromEntries(statistics)
}

/** Whether the dictionary is a list of texts. */
function isListed({ type, isWide }: SourceColumn): boolean {
  return type === 'text' || (type === 'integer' && isWide)
}

async function packColumn(
  table: RowsTable,
  column: SourceColumn,
  estimate: number,
  keys: Keys,
): Promise<PackedColumn | null> {
  if (column.type === 'json') return null
  if (isListed(column)) {
    // The estimate is usually within 5 %; reading the distinct values decides.
    const ranked = estimate > MAX_DISTINCT_TEXTS * 1.3 ? null : await rankTexts(table, column)
    if (ranked === null) return null
    const { texts, codes, counts } = ranked
    const width = bytesFor(texts.length)
    const dictionary = await packTexts(texts)
    const packedCodes = await packCodes(codes, width)
    return { column, form: 'text', values: texts, counts, dictionary, codes: packedCodes, width }
  }
  const ranked = await rankFixedColumn(table, column, keys)
  if (ranked === null) return null
  const { high, low, codes, counts } = ranked
  const isDouble = column.type === 'number'
  const values = valuesOfKeys(high, low, isDouble)
  const width = bytesFor(values.length)
  const dictionary = await packKeys(high, low)
  const packedCodes = await packCodes(codes, width)
  const form = isDouble ? 'number' : 'integer'
  return { column, form, values, counts, dictionary, codes: packedCodes, width }
}
