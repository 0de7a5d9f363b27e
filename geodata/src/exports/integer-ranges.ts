import { join } from 'node:path'
import type { Column } from '../feature.ts'
import { openDuckDb } from '../open-duckdb.ts'
import { parquetSql, quoteName } from '../quote-sql.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { duckDbOptions, type ExportOptions } from './export-options.ts'

/** The smallest common type that fits every value of an integer column. */
export type IntegerSize = 'int32' | 'int53' | 'int64' | 'larger'

/**
 * The size of the integers of each column, by column index; null for columns of other types. Parquet stores
 * the min and max value of each row group, so this reads hardly any data.
 */
export async function integerSizes(
  folder: string,
  columns: readonly Column[],
  options: Pick<ExportOptions, 'threads' | 'memoryLimit'> = {},
): Promise<(IntegerSize | null)[]> {
  const integers = columns.filter((column) => column.type === 'integer')
  if (integers.length === 0) return columns.map(() => null)
  const { connection, close } = await openDuckDb({ ...duckDbOptions(options), folders: [folder] })
  try {
    const bounds = integers.map(({ name }) => {
      const column = quoteName(name)
      return `min(${column})::VARCHAR, max(${column})::VARCHAR`
    })
    const path = join(folder, SNAPSHOT_FILES.rows)
    const rows = await connection.runAndReadAll(`SELECT ${bounds.join(', ')} FROM ${parquetSql(path)}`)
    const row = rows.getRows()[0]!
    let at = 0
    return columns.map((column) => {
      if (column.type !== 'integer') return null
      const [min, max] = [row[at++], row[at++]]
      return typeof min === 'string' && typeof max === 'string'
        ? integerSize(BigInt(min), BigInt(max))
        : 'int32'
    })
  } finally {
    close()
  }
}

function integerSize(min: bigint, max: bigint): IntegerSize {
  const within = (bits: bigint) => min >= -(1n << bits) && max < 1n << bits
  if (within(31n)) return 'int32'
  if (within(53n)) return 'int53'
  return within(63n) ? 'int64' : 'larger'
}
