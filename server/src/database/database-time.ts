import { type RawBuilder, sql } from 'kysely'
import { databaseTime } from './changes/postgres-changes.ts'
import type { ControlDatabase } from './open.ts'

/**
 * The time by the database's own clock, as text in the form of all times. Processes on several machines compare
 * leases by it, whatever their own clocks say.
 */
export function timeOfDatabase({ kind }: Pick<ControlDatabase, 'kind'>, plusMs = 0): RawBuilder<string> {
  if (kind === 'postgres') return databaseTime(plusMs)
  return sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${plusMs / 1000} seconds`})`
}
