import type { Changes } from './changes.ts'
import type { ControlDatabase } from './open.ts'
import { openPostgresChanges } from './postgres-changes.ts'
import { openSqliteChanges } from './sqlite-changes.ts'

/** `serving: false` is for the command line, which makes changes and caches nothing. */
export function openChanges(
  database: ControlDatabase,
  options: { nodeId: string; serving: boolean },
): Promise<Changes> {
  return database.kind === 'sqlite' ? openSqliteChanges(database) : openPostgresChanges(database, options)
}
