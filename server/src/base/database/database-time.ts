import { type RawBuilder, sql } from 'kysely'
import type { ControlDatabase } from './open.ts'

/**
 * The time by the database's own clock, as text in the form of all times. Processes on several machines compare
 * leases by it, whatever their own clocks say.
 */
export function timeOfDatabase({ kind }: Pick<ControlDatabase, 'kind'>, plusMs = 0): RawBuilder<string> {
  if (kind === 'postgres') return databaseTime(plusMs)
  return sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`
}

/** PostgreSQL's expression of a time as text. */
export function isoText(expression: string): string {
  return `to_char((${expression}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** PostgreSQL's clock. */
export function databaseTime(plusMs: number) {
  return sql<string>`${sql.raw(isoText(`clock_timestamp() + interval '${plusMs} milliseconds'`))}`
}
