import type { DuckDbOptions } from '../open-duckdb.ts'

export interface ExportOptions {
  /** The dataset's name, from which layer names and names of files inside an archive are made. */
  table: string
  title?: string
  description?: string
  attribution?: string
  license?: string
  /** When the version was published, ISO 8601. Used as the date of files inside an archive. */
  updatedAt?: string
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas?: boolean
  signal?: AbortSignal
  /** Max threads that encode features or, if a format needs it, of DuckDB. */
  threads?: number
  /** For DuckDB, such as `256MB`. */
  memoryLimit?: string
}

export function duckDbOptions({
  threads = 1,
  memoryLimit = '256MB',
}: Pick<ExportOptions, 'threads' | 'memoryLimit'>): Pick<DuckDbOptions, 'threads' | 'memoryLimit'> {
  return { threads, memoryLimit }
}
