import type { ControlDatabase } from '../open.ts'
import type { Changes } from './changes.ts'
import type { NodeOptions } from './postgres-changes.ts'
import { openSqliteChanges } from './sqlite-changes.ts'

export async function openChanges(database: ControlDatabase, options: NodeOptions): Promise<Changes> {
  if (database.kind === 'sqlite') return openSqliteChanges(database, options)
  // Loads the client of PostgreSQL.
  const { openPostgresChanges } = await import('./postgres-changes.ts')
  return openPostgresChanges(database, options)
}
