import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type ColumnMetaData, parquetMetadata } from 'hyparquet'
import { readFully } from '../bytes/read-fully.ts'
import type { Column } from '../feature.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'

/** The smallest common type that fits every value of an integer column. */
export type IntegerSize = 'int32' | 'int53' | 'int64' | 'larger'

/** The length of the footer and `PAR1`. */
const FOOTER_END = 8

/**
 * The size of the integers of each column, by column index; null for columns of other types. Parquet's footer has the
 * min and max value of each row group, so no data is read.
 */
export async function integerSizes(
  folder: string,
  columns: readonly Column[],
): Promise<(IntegerSize | null)[]> {
  if (columns.every(({ type }) => type !== 'integer')) return columns.map(() => null)
  const chunks = await columnChunks(join(folder, SNAPSHOT_FILES.rows))
  const own = chunks.filter(({ path_in_schema }) => path_in_schema.length === 1)
  const byName = Map.groupBy(own, ({ path_in_schema }) => path_in_schema[0]!)
  return columns.map(({ name, type }) => (type === 'integer' ? sizeOf(byName.get(name) ?? []) : null))
}

async function columnChunks(path: string): Promise<ColumnMetaData[]> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const end = Buffer.alloc(FOOTER_END)
    await readFully(file, end, size - FOOTER_END)
    const footer = new Uint8Array(end.readUInt32LE() + FOOTER_END)
    await readFully(file, footer, size - footer.length)
    const { row_groups } = parquetMetadata(footer, { geoparquet: false })
    return row_groups.flatMap(({ columns }) => columns.flatMap(({ meta_data }) => meta_data ?? []))
  } finally {
    await file.close()
  }
}

/** Columns with an integer beyond 64 bits are stored as decimals. */
function sizeOf(chunks: ColumnMetaData[]): IntegerSize {
  if (chunks.some(({ type }) => type !== 'INT64')) return 'larger'
  let [min, max] = [0n, 0n]
  for (const { statistics, num_values } of chunks) {
    const { min_value, max_value, null_count } = statistics ?? {}
    if (null_count === num_values) continue
    if (typeof min_value !== 'bigint' || typeof max_value !== 'bigint') return 'int64'
    if (min_value < min) min = min_value
    if (max_value > max) max = max_value
  }
  return integerSize(min, max)
}

function integerSize(min: bigint, max: bigint): IntegerSize {
  const within = (bits: bigint) => min >= -(1n << bits) && max < 1n << bits
  if (within(31n)) return 'int32'
  return within(53n) ? 'int53' : 'int64'
}
