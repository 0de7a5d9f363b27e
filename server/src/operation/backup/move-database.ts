import type { Clock } from '../../base/clock.ts'
import { breaksConnection, DatabaseError } from '../../base/database/database-error.ts'
import { lockDataFolder } from '../../base/locks/data-folder-lock.ts'
import { CopyError } from './copy-error.ts'
import { markMovedDatabase, unmarkMovedDatabase } from './restore/folder-marks.ts'
import { loadDatabase } from './rows/load-database.ts'
import { isPostgresEmpty, openPostgresReader, openPostgresWriter } from './rows/postgres-rows-store.ts'
import { digestOf, type RowReader } from './rows/row-database.ts'
import { openSqliteReader, sqliteFile } from './rows/sqlite-rows-store.ts'
import { latestSchemaVersion, tableShapes } from './rows/table-shapes-store.ts'

export interface MoveOptions {
  dataDir: string
  to: string
  clock: Clock
  onRows?: (rows: number) => void
}

export interface MoveReport {
  to: string
  tables: number
  rows: number
  /** Whether the rows had been copied already, by a move that was interrupted before its last step. */
  wasCopied: boolean
}

/**
 * Copies the SQLite database into an empty PostgreSQL database, compares every table, marks the data folder so
 * that no server starts on the old database, and commits. The SQLite file is not changed; while it is
 * copied, all other writers are locked out.
 */
export async function moveDatabase({ dataDir, to, clock, onRows }: MoveOptions): Promise<MoveReport> {
  const unlock = lockDataFolder(dataDir)
  try {
    const reader = await openSqliteReader(sqliteFile(dataDir), { exclusive: true })
    try {
      const { schemaVersion } = reader
      const name = displayName(to)
      const mark = { to: name, at: clock().toISOString() }
      const shapes = tableShapes(latestSchemaVersion())
      if (!(await isPostgresEmpty(to, shapes))) {
        const rows = await requireSameRows(reader, to)
        await markMovedDatabase(dataDir, mark)
        return { to: name, tables: tableShapes(schemaVersion).length, rows, wasCopied: true }
      }
      const writer = await openPostgresWriter(to, schemaVersion, shapes)
      try {
        const copied = await loadDatabase(reader, writer, schemaVersion, undefined, onRows)
        // Before the commit: two databases in use at once would each miss the other's revocations.
        await markMovedDatabase(dataDir, mark)
        await writer.commit().catch(async (error: unknown) => {
          if (!breaksConnection(error)) await unmarkMovedDatabase(dataDir)
          throw error
        })
        return { to: name, ...copied, wasCopied: false }
      } finally {
        await writer.close()
      }
    } finally {
      await reader.close()
    }
  } finally {
    unlock()
  }
}

/** A move that was interrupted after its commit left the same rows: then only the mark is missing. */
async function requireSameRows(source: RowReader, to: string): Promise<number> {
  const refusal = new CopyError(
    'The PostgreSQL database is not empty. Name an empty one: nothing is overwritten.',
  )
  const target = await openPostgresReader(to).catch((error: unknown) => {
    throw error instanceof DatabaseError ? error : refusal
  })
  try {
    if (target.schemaVersion !== source.schemaVersion) throw refusal
    let rows = 0
    for (const shape of tableShapes(source.schemaVersion)) {
      const [ours, theirs] = [await digestOf(source, shape), await digestOf(target, shape)]
      if (ours.digest !== theirs.digest) throw refusal
      rows += ours.rows
    }
    return rows
  } finally {
    await target.close()
  }
}

/** The URL without the password. */
function displayName(url: string): string {
  const { hostname, port, pathname, username } = new URL(url)
  return `postgres://${username ? `${username}@` : ''}${hostname}${port ? `:${port}` : ''}${pathname}`
}
