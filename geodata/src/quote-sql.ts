/** Quotes names and texts in SQL, for DuckDB and SQLite, so that no content can break out of the quotes. */

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
