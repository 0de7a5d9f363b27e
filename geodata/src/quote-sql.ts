/** Names and texts in SQL, for DuckDB and SQLite alike: whatever they hold, they stay one name or one text. */

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
