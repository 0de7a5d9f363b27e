import { type RawBuilder, sql } from 'kysely'

/** SQLite's clock, as text in the form of all times. */
export function sqliteTime(plusMs = 0): RawBuilder<string> {
  return sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`
}

/** PostgreSQL's expression of a time as text. */
export function isoText(expression: string): string {
  return `to_char((${expression}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** PostgreSQL's clock. */
export function postgresTime(plusMs = 0): RawBuilder<string> {
  return sql<string>`${sql.raw(isoText(`clock_timestamp() + interval '${plusMs} milliseconds'`))}`
}
