import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { ExportOptions } from './export-options.ts'

/** Extensions are neither loaded nor fetched: what is needed is in the core. */
export async function openDuckDb({
  threads = 1,
  memoryLimit = '256MB',
}: Pick<ExportOptions, 'threads' | 'memoryLimit'>): Promise<{
  instance: DuckDBInstance
  connection: DuckDBConnection
}> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: memoryLimit,
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
  })
  return { instance, connection: await instance.connect() }
}
