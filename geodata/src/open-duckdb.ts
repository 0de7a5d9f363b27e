import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from './quote-sql.ts'

export interface DuckDbOptions {
  threads: number
  /** Such as `256MB`. */
  memoryLimit: string
  /** The folders whose files queries may read and write. */
  folders?: readonly string[]
  /** Single files that queries may read. */
  files?: readonly string[]
  /** The folder to which DuckDB may spill; without it, a query that exceeds the memory limit fails. */
  temporaryFolder?: string
  /** Additional settings, each a statement such as `SET streaming_buffer_size = '16MB'`. */
  settings?: readonly string[]
}

/** Whether a query failed because it needed more memory than its session may use. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Memory Error')
}

export interface DuckDb {
  instance: DuckDBInstance
  connection: DuckDBConnection
  close(): void
}

/**
 * Opens an in-memory DuckDB. All DuckDB sessions of this program are opened here: times are in UTC, queries
 * can only access the given files and folders, no extension is loaded or downloaded, and no query can change
 * any of this.
 */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDb> {
  // Loaded when it is first needed: a server runs queries in processes of their own, and may never need DuckDB itself.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads),
    memory_limit: options.memoryLimit,
    temp_directory: options.temporaryFolder ?? '',
    preserve_insertion_order: 'true',
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const close = () => {
    connection.closeSync()
    instance.closeSync()
  }
  const list = (paths: readonly string[] = []) => `[${paths.map(quoteText).join(', ')}]`
  try {
    for (const statement of [
      "SET GLOBAL TimeZone = 'UTC'",
      ...(options.settings ?? []),
      `SET allowed_directories = ${list(options.folders?.map((folder) => `${folder}/`))}`,
      `SET allowed_paths = ${list(options.files)}`,
      'SET enable_external_access = false',
      'SET lock_configuration = true',
    ]) {
      await connection.run(statement)
    }
  } catch (error) {
    close()
    throw error
  }
  return { instance, connection, close }
}
