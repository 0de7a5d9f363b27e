import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'
import { indexName, isIndexStatement, migrations } from './migrations.ts'

/** The database was created by a newer version of the program: continuing could damage it. */
class DatabaseTooNewError extends Error {
  override name = 'DatabaseTooNewError'
}

/** The table that records the applied migrations; it is created before the first of them. */
export const MIGRATIONS_TABLE =
  'create table if not exists migrations (number integer primary key, name text not null, applied_at text not null)'

/** An arbitrary but fixed number: the advisory lock that lets only one PostgreSQL node migrate at a time. */
const LOCK = 7_259_231_004
const LOCK_POLL_MS = 100

/**
 * How long a change of a table may wait for statements under way. Later statements queue behind it, so it times out
 * quickly and is retried.
 */
const TABLE_LOCK_TIMEOUT = '500ms'
const MAX_LOCK_ATTEMPTS = 600
const LOCK_NOT_AVAILABLE = '55P03'

type Db = Kysely<Tables>

/** The server finds out in half a minute, instead of two hours, that the node holding the lock is gone. */
const KEEPALIVE = ['tcp_keepalives_idle = 10', 'tcp_keepalives_interval = 5', 'tcp_keepalives_count = 4']

/**
 * Migrates the database to this program's schema. Forward only, one node at a time. Nodes of the version before go on
 * serving meanwhile: see docs/decisions/migrations-beside-old-nodes.md.
 */
export async function migrate({ db, kind }: { db: Db; kind: 'sqlite' | 'postgres' }): Promise<void> {
  if (kind === 'sqlite') {
    await db.transaction().execute((tx) => migrateWithin(tx, kind))
    return
  }
  await db.connection().execute(async (connection) => {
    for (const setting of KEEPALIVE) await sql.raw(`set ${setting}`).execute(connection)
    await lock(connection)
    try {
      await migratePostgres(connection)
    } finally {
      await sql`select pg_advisory_unlock(${LOCK})`.execute(connection)
    }
  })
}

/** Migrates within a transaction of a database that nobody else uses. */
export async function migrateWithin(tx: Db, kind: 'sqlite' | 'postgres'): Promise<void> {
  const version = await currentVersion(tx)
  for (let number = version; number < migrations.length; number++) await apply(tx, number, kind)
}

/**
 * Polls, because a connection that waits in a statement has a snapshot, for which another node's
 * `create index concurrently` would wait in turn.
 */
async function lock(db: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${LOCK}) as locked`.execute(
      db,
    )
    if (rows[0]!.locked) return
    await sleep(LOCK_POLL_MS)
  }
}

async function migratePostgres(db: Db): Promise<void> {
  const version = await currentVersion(db)
  if (version === 0) {
    await db.transaction().execute((tx) => migrateWithin(tx, 'postgres'))
    return
  }
  for (let number = version; number < migrations.length; number++) {
    await retryWhileLocked(() =>
      db.transaction().execute(async (tx) => {
        await sql.raw(`set local lock_timeout = '${TABLE_LOCK_TIMEOUT}'`).execute(tx)
        await apply(tx, number, 'postgres', (statement) => !isIndexStatement(statement))
      }),
    )
  }
  await createMissingIndexes(db)
}

async function currentVersion(db: Db): Promise<number> {
  await sql.raw(MIGRATIONS_TABLE).execute(db)
  const newest = await db
    .selectFrom('migrations')
    .select(({ fn }) => fn.max('number').as('number'))
    .executeTakeFirst()
  const version = Number(newest?.number ?? 0)
  if (version > migrations.length) {
    throw new DatabaseTooNewError(
      `The control database is at version ${version}, and this program knows versions up to ${migrations.length}. Use a newer program.`,
    )
  }
  return version
}

async function apply(
  db: Db,
  index: number,
  kind: 'sqlite' | 'postgres',
  isIncluded: (statement: string) => boolean = () => true,
): Promise<void> {
  const { name, statements } = migrations[index]!
  for (const statement of statements(kind).filter(isIncluded)) await sql.raw(statement).execute(db)
  await db
    .insertInto('migrations')
    .values({ number: index + 1, name, applied_at: new Date().toISOString() })
    .execute()
}

async function retryWhileLocked(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error) || attempt === MAX_LOCK_ATTEMPTS) throw error
      await sleep(LOCK_POLL_MS)
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } }
  return code === LOCK_NOT_AVAILABLE || cause?.code === LOCK_NOT_AVAILABLE
}

/**
 * Creates indexes that are missing, beside running writes. At every start, because a process that is killed while it
 * creates one leaves an index that is not valid.
 */
async function createMissingIndexes(db: Db): Promise<void> {
  const statements = migrations
    .flatMap((migration) => migration.statements('postgres'))
    .filter(isIndexStatement)
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index
    join pg_class on pg_class.oid = indexrelid
    where relnamespace = current_schema()::regnamespace`.execute(db)
  const isValid = new Map(rows.map(({ name, valid }) => [name, valid]))
  for (const statement of statements) {
    const name = indexName(statement)
    if (isValid.get(name)) continue
    if (isValid.has(name)) await sql.raw(`drop index concurrently ${name}`).execute(db)
    await sql.raw(statement.replace(' index ', ' index concurrently ')).execute(db)
  }
}
