import { sql } from 'kysely'
import { postgresTime } from './database-time.ts'
import type { ControlDatabase, Db } from './open.ts'

/** A trivial query that succeeds if the database responds at all. */
export async function readNothing(db: Db): Promise<void> {
  await db.selectFrom('heartbeat').select('only').executeTakeFirstOrThrow()
}

/** A minimal write, to find out whether the database is writable. */
export async function writeProbe(db: Db): Promise<void> {
  await db
    .updateTable('heartbeat')
    .set((row) => ({ probes: row('probes', '+', 1) }))
    .execute()
}

/** When the installation was last known to be running; null before its first start. */
export async function readSeenAt(db: Db): Promise<Date | null> {
  const { seen_at } = await db.selectFrom('heartbeat').select('seen_at').executeTakeFirstOrThrow()
  return seen_at === null ? null : new Date(seen_at)
}

/** Never moves the time back, except with `force`: then the operator confirms that the clock is right. */
export async function writeSeenAt(db: Db, at: Date, { force = false } = {}): Promise<void> {
  const seen_at = at.toISOString()
  await db
    .updateTable('heartbeat')
    .set({ seen_at })
    .$if(!force, (query) =>
      query.where((row) => row.or([row('seen_at', 'is', null), row('seen_at', '<', seen_at)])),
    )
    .execute()
}

/** PostgreSQL's own clock; null on SQLite, which has only the clock of this machine. */
export async function readDatabaseClock({ db, kind }: ControlDatabase): Promise<Date | null> {
  if (kind === 'sqlite') return null
  const { rows } = await sql<{ now: string }>`select ${postgresTime()} as now`.execute(db)
  return new Date(rows[0]!.now)
}
