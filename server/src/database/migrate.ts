import { type Kysely, sql, type Transaction } from 'kysely'
import { migrations } from './migrations.ts'
import type { Tables } from './schema.ts'

/** The database was created by a newer version of the program: continuing could damage it. */
class DatabaseTooNewError extends Error {
  override name = 'DatabaseTooNewError'
}

/** The table that records the applied migrations; it is created before the first of them. */
export const MIGRATIONS_TABLE =
  'create table if not exists migrations (number integer primary key, name text not null, applied_at text not null)'

/** An arbitrary but fixed number: the advisory lock that lets only one PostgreSQL node migrate at a time. */
const LOCK = 7_259_231_004

/** Migrates the database to this program's schema. Forward only, in one transaction, one node at a time. */
export async function migrate({
  db,
  kind,
}: {
  db: Kysely<Tables>
  kind: 'sqlite' | 'postgres'
}): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (kind === 'postgres') await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
    await sql.raw(MIGRATIONS_TABLE).execute(tx)
    const present = await tx
      .selectFrom('migrations')
      .select(({ fn }) => fn.max('number').as('number'))
      .executeTakeFirst()
    const version = Number(present?.number ?? 0)
    if (version > migrations.length) {
      throw new DatabaseTooNewError(
        `The control database is at version ${version}, and this program knows versions up to ${migrations.length}. Use a newer program.`,
      )
    }
    for (const [index, migration] of migrations.entries()) {
      if (index < version) continue
      await runStatements(tx, migration.statements(kind))
      await tx
        .insertInto('migrations')
        .values({ number: index + 1, name: migration.name, applied_at: new Date().toISOString() })
        .execute()
    }
  })
}

async function runStatements(tx: Transaction<Tables>, statements: string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(tx)
}
