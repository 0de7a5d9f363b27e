import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { type EarlierRelease, earlierReleases, unpackRelease } from '../../../testing/releases.ts'
import { emptyDatabase, temporaryFolder } from '../../../testing/test-server.ts'
import { openDatabase } from '../open.ts'
import { MIGRATIONS_TABLE } from './migrate.ts'
import { indexName, isIndexStatement, migrations } from './migrations.ts'

/** What a node of the version before does not notice: new tables, indexes and columns that it need not fill. */
const ADDITIONS = [
  /^create table (\w+) /,
  /^create (unique )?index \w+ on \w+ /,
  /^alter table \w+ add column \w+ (text|integer|bigint|boolean)( not null default \S+)?$/,
]
/** Rows of tables that no earlier version reads, and rows that change only in columns that it does not know. */
const REVIEWED = [
  'insert into revoked_secrets select',
  'insert into heartbeat select',
  'insert into changes (number, subject, subject_id, at, token)',
  'update change_number set token =',
  `update jobs set queue = 'publish ' || table_name`,
  // A node of the version before drops its attempt, and the job is run again.
  `update jobs set state = 'waiting' where state = 'running'`,
  // The sums stay the same; a node of the version before goes on adding rows of session keys.
  'insert into usage (key_id, organization_id, date, operation, table_name, format, calls, credits)\n',
  'delete from usage where key_id in (select id from api_keys where kind =',
  'update ledger set key_id = null,',
  // A node of the version before ignores a permission that it does not know.
  `update members set permissions = '["APIKEY_VIEW","APIKEY_CREATE","MEMBER_MANAGE","BILLING_VIEW","DATASET_PUBLISH"]'`,
  `update members set permissions = '["APIKEY_VIEW","APIKEY_CREATE","MEMBER_MANAGE","BILLING_VIEW","DATASET_PUBLISH","BILLING_MANAGE"]'`,
  // Nodes of the version before never write a negative balance, and refuse downloads if they read one.
  'alter table organizations drop constraint organizations_credits_check',
  'alter table ledger drop constraint ledger_balance_check',
  // Rows of payers that a node of the version before does not know.
  'insert into purchases (payer, table_name, version, format, paid_at, ledger_id)\n',
  // Nodes find rows missing and forget their caches, which is right after a migration too.
  'delete from changes',
]

test('every migration only adds, so that nodes of the version before go on working', () => {
  const names = new Set<string>()
  for (const [number, { name, statements }] of migrations.entries()) {
    // The first schema was created on empty databases.
    for (const statement of number === 0 ? [] : statements('postgres')) {
      const isAddition = ADDITIONS.some((pattern) => pattern.test(statement))
      const isReviewed = REVIEWED.some((beginning) => statement.startsWith(beginning))
      assert.ok(isAddition || isReviewed, `"${name}" may stop running nodes: ${statement}`)
    }
    for (const statement of statements('postgres').filter(isIndexStatement)) {
      assert.ok(!names.has(indexName(statement)), statement)
      names.add(indexName(statement))
    }
  }
})

/** A PostgreSQL database with the schema and the rows that a release left behind. */
async function releasedDatabase(
  t: TestContext,
  release: EarlierRelease,
): Promise<{ url: string; version: number }> {
  const file = new DatabaseSync(join(unpackRelease(release, temporaryFolder(t)), 'wayleave.db'))
  cleanUp(t, async () => file.close())
  const url = await emptyDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const applied = file.prepare('select * from migrations order by number').all() as { number: number }[]
  await client.query(MIGRATIONS_TABLE)
  for (const { number } of applied)
    for (const statement of migrations[number - 1]!.statements('postgres')) await client.query(statement)
  // Foreign keys are not checked while rows are copied in any order.
  await client.query("set session_replication_role = 'replica'")
  const tables = file.prepare("select name from sqlite_master where type = 'table'").all() as {
    name: string
  }[]
  for (const { name } of tables.filter(({ name }) => !name.startsWith('sqlite_'))) {
    // Migrations may have put rows there already.
    await client.query(`delete from ${name}`)
    for (const row of file.prepare(`select * from ${name}`).all() as Record<string, unknown>[]) {
      const columns = Object.keys(row).map((column) => `"${column}"`)
      const places = columns.map((_, i) => `$${i + 1}`)
      const insert = `insert into ${name} (${columns}) overriding system value values (${places})`
      await client.query(insert, Object.values(row))
    }
  }
  await client.end()
  return { url, version: applied.length }
}

for (const release of earlierReleases) {
  test(`a node of ${release.version} goes on working while and after its database is migrated`, {
    skip: lacks('postgres'),
  }, async (t) => {
    const { url, version } = await releasedDatabase(t, release)
    assert.ok(version < migrations.length)
    const oldNode = new pg.Client({ connectionString: url, statement_timeout: 5000 })
    await oldNode.connect()
    cleanUp(t, () => oldNode.end())
    // A transaction under way, as of a download, has read from tables that the migration changes.
    const transaction = new pg.Client({ connectionString: url })
    await transaction.connect()
    cleanUp(t, () => transaction.end())
    await transaction.query('begin')
    await transaction.query('select count(*) from users, api_keys, organizations')
    let isMigrated = false
    const migrating = openDatabase({ databaseUrl: url, dataDir: temporaryFolder(t) }).finally(() => {
      isMigrated = true
    })
    let reads = 0
    for (; !isMigrated; reads++) {
      await oldNode.query('select id, secret_hash from api_keys where id = $1', [release.keyId])
      // Would wait behind a migration that waits for the transaction.
      await oldNode.query('select id, email from users')
      await oldNode.query('update api_keys set last_used_at = $1 where id = $2', [
        '2026-01-01',
        release.keyId,
      ])
      if (reads === 20) await transaction.query('commit')
    }
    assert.ok(reads > 20)
    const database = await migrating
    cleanUp(t, () => database.close())
    const { rows } = await oldNode.query('select max(number) as number from migrations')
    assert.equal(rows[0].number, migrations.length)
    for (const [i, statement] of release.statements.entries()) {
      await oldNode.query(`prepare statement_${i} as ${statement}`).catch((error: Error) => {
        assert.fail(`${release.version} sends: ${statement}\n${error.message}`)
      })
    }
  })

  test(`a migration of ${release.version} that is interrupted while it creates indexes is completed by the next start`, {
    skip: lacks('postgres'),
  }, async (t) => {
    const { url } = await releasedDatabase(t, release)
    await (await openDatabase({ databaseUrl: url, dataDir: temporaryFolder(t) })).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    cleanUp(t, () => client.end())
    await client.query('drop index events_at')
    await client.query("update pg_index set indisvalid = false where indexrelid = 'events_actor'::regclass")
    await (await openDatabase({ databaseUrl: url, dataDir: temporaryFolder(t) })).close()
    const { rows } = await client.query(
      "select relname, indisvalid from pg_index join pg_class on oid = indexrelid where relname in ('events_at', 'events_actor') order by 1",
    )
    assert.deepEqual(rows, [
      { relname: 'events_actor', indisvalid: true },
      { relname: 'events_at', indisvalid: true },
    ])
  })
}
