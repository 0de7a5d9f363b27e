import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely'
import type { ControlDatabase } from './control-database.ts'
import { postgresTime } from './database-time.ts'
import type { Tables } from './schema.ts'

/** The database over connections that are neither refused nor held. */
export function postgresDatabase(url: string, pool: PostgresPool): ControlDatabase {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    kind: 'postgres',
    sqlite: null,
    file: null,
    url,
    forUpdate: (query) => query.forUpdate(),
    lockName: async (tx, name) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    },
    time: postgresTime,
    refuse: () => {},
    hold: () => {},
    checkServers: () => {},
    pending: () => 0,
    close: () => db.destroy(),
  }
}
