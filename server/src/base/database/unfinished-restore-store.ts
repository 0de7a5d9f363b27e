import { type Kysely, sql } from 'kysely'
import type { Tables } from './schema.ts'

/**
 * The table of a PostgreSQL database that marks an unfinished restore. It is not part of the schema: a restore
 * creates it, also in an empty database, and drops it in the transaction that puts the restored rows in place.
 */
export const UNFINISHED_RESTORE = 'unfinished_restore'

export const hasUnfinishedRestore = sql<boolean>`to_regclass(${sql.lit(UNFINISHED_RESTORE)}) is not null`

/** A restore into the database has begun and not finished. */
class UnfinishedRestoreError extends Error {
  override name = 'UnfinishedRestoreError'
}

export async function requireFinishedRestore(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{
    isRestoring: boolean
  }>`select ${hasUnfinishedRestore} as "isRestoring"`.execute(db)
  if (!rows[0]!.isRestoring) return
  const { rows: marks } = await sql<{ command: string; at: string }>`
    select command, at from ${sql.table(UNFINISHED_RESTORE)}`.execute(db)
  const [mark] = marks
  throw new UnfinishedRestoreError(
    `A restore into the PostgreSQL database${mark ? `, begun at ${mark.at},` : ''} has not finished. Wait for it, or run it again${mark ? `: ${mark.command}` : '.'}`,
  )
}
