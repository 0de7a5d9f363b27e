import type { DuckDbOptions } from '../open-duckdb.ts'

export interface ExportOptions {
  /** The dataset's name: names of layers and of files inside an archive are made from it. */
  table: string
  title?: string
  description?: string
  attribution?: string
  license?: string
  /** When the version was published, ISO 8601: the date that files inside an archive bear. */
  updatedAt?: string
  signal?: AbortSignal
  /** For DuckDB, where a format needs it. */
  threads?: number
  /** For DuckDB, such as `256MB`. */
  memoryLimit?: string
}

export function duckDbOptions({
  threads = 1,
  memoryLimit = '256MB',
}: ExportOptions): Pick<DuckDbOptions, 'threads' | 'memoryLimit'> {
  return { threads, memoryLimit }
}
