import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from './quote-sql.ts'

export interface DuckDbOptions {
  threads: number
  /** Such as `256MB`. */
  memoryLimit: string
  /** The folders whose files queries may read and write. */
  folders?: readonly string[]
  /** Single files that queries may read. */
  files?: readonly string[]
  /** Where DuckDB may put what does not fit into its memory; without it, it fails beyond its memory. */
  temporaryFolder?: string
  /** Further settings, each a statement such as `SET streaming_buffer_size = '16MB'`. */
  settings?: readonly string[]
}

export interface DuckDb {
  instance: DuckDBInstance
  connection: DuckDBConnection
  close(): void
}

/**
 * Opens a DuckDB in memory, the only way in which this program does: times are in UTC, queries reach nothing but
 * the given files and folders, no extension is loaded or fetched, and no query can change any of this.
 */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDb> {
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
