/** Quotes names and texts in SQL, for DuckDB and SQLite, so that no content can break out of the quotes. */

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * Parquet files as a table for DuckDB. It would take folders above them that are named `key=value` for columns, which
 * replace columns of the files with the same names.
 */
export function parquetSql(paths: string | string[], ...options: string[]): string {
  const list = typeof paths === 'string' ? quoteText(paths) : `[${paths.map(quoteText).join(', ')}]`
  return `read_parquet(${[list, 'hive_partitioning = false', ...options].join(', ')})`
}
