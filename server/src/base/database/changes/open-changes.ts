import type { ControlDatabase } from '../open.ts'
import type { Changes } from './changes.ts'
import { type NodeOptions, openPostgresChanges } from './postgres-changes.ts'
import { openSqliteChanges } from './sqlite-changes.ts'

export function openChanges(database: ControlDatabase, options: NodeOptions): Promise<Changes> {
  return database.kind === 'sqlite'
    ? openSqliteChanges(database, options)
    : openPostgresChanges(database, options)
}
