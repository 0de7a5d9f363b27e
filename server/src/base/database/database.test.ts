import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import {
  type DatabaseKind,
  databaseKinds,
  emptyDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { migrations } from './migrations/migrations.ts'
import { isUniqueViolation, openDatabase } from './open.ts'

async function place(t: TestContext, kind: DatabaseKind) {
  return { dataDir: temporaryFolder(t), databaseUrl: kind === 'postgres' ? await emptyDatabase(t) : null }
}

const user = (id: string) => ({
  id,
  email: `${id}@example.org`,
  created_at: '2026-01-01T00:00:00.000Z',
  last_sign_in_at: null,
})

for (const kind of databaseKinds) {
  test(`four nodes that start at once migrate once, on ${kind}`, async (t) => {
    const options = await place(t, kind)
    const opened = await Promise.all([1, 2, 3, 4].map(() => openDatabase(options)))
    cleanUp(t, () => Promise.all(opened.map((database) => database.close())))
    const applied = await opened[0]!.db.selectFrom('migrations').select('number').execute()
    assert.equal(applied.length, migrations.length)
  })

  test(`a database newer than the program is refused in one sentence, on ${kind}`, async (t) => {
    const options = await place(t, kind)
    const database = await openDatabase(options)
    const number = migrations.length + 3
    await database.db.insertInto('migrations').values({ number, name: 'later', applied_at: 'x' }).execute()
    await database.close()
    await assert.rejects(openDatabase(options), {
      name: 'DatabaseTooNewError',
      message: `The control database is at version ${number}, and this program knows versions up to ${migrations.length}. Use a newer program.`,
    })
  })

  test(`a transaction that fails leaves nothing, and others wait their turn, on ${kind}`, async (t) => {
    const database = await openDatabase(await place(t, kind))
    cleanUp(t, () => database.close())
    const { db } = database
    const failing = db.transaction().execute(async (tx) => {
      await tx.insertInto('users').values(user('a')).execute()
      await sleep(20)
      throw new Error('no')
    })
    const working = db.insertInto('users').values(user('b')).execute()
    await assert.rejects(failing, /no/)
    await working
    assert.deepEqual(await db.selectFrom('users').select('id').execute(), [{ id: 'b' }])
  })

  test(`a unique index and a foreign key hold, on ${kind}`, async (t) => {
    const { db, close } = await openDatabase(await place(t, kind))
    cleanUp(t, close)
    await db.insertInto('users').values(user('a')).execute()
    await assert.rejects(db.insertInto('users').values(user('a')).execute(), isUniqueViolation)
    const member = { user_id: 'a', organization_id: 'none', permissions: '[]', joined_at: 'x' }
    await assert.rejects(db.insertInto('members').values(member).execute(), /foreign key/i)
  })
}

test('a new database is opened although another process is about to write its first row', async (t) => {
  const dataDir = temporaryFolder(t)
  const other = new DatabaseSync(join(dataDir, 'wayleave.db'))
  cleanUp(t, () => other.close())
  other.exec('begin immediate')
  const opening = openDatabase({ dataDir, databaseUrl: null })
  // Long enough for the thread to start and to be refused.
  await Promise.race([sleep(500), opening])
  other.exec('commit')
  const { db, close } = await opening
  cleanUp(t, close)
  assert.deepEqual((await sql`pragma journal_mode`.execute(db)).rows, [{ journal_mode: 'wal' }])
})

test('kill -9 during a write loses no committed row, and the next start is clean', async (t) => {
  const dataDir = temporaryFolder(t)
  const script = fileURLToPath(new URL('../../testing/processes/write-until-killed.ts', import.meta.url))
  const child = spawn(process.execPath, [script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const committed: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    committed.push(line)
    if (committed.length === 200) child.kill('SIGKILL')
  })
  await once(child, 'exit')
  const { db, close } = await openDatabase({ dataDir, databaseUrl: null })
  cleanUp(t, close)
  const rows = new Set((await db.selectFrom('users').select('id').execute()).map((row) => row.id))
  assert.ok(committed.length >= 200)
  for (const id of committed) assert.ok(rows.has(id), `${id} was committed and is gone`)
})

test('a database that another process has locked delays its users and not the event loop', async (t) => {
  const dataDir = temporaryFolder(t)
  const { db, close } = await openDatabase({ dataDir, databaseUrl: null })
  cleanUp(t, close)
  const other = new DatabaseSync(join(dataDir, 'wayleave.db'))
  cleanUp(t, () => other.close())
  other.exec('begin immediate')
  let done = false
  const insert = db
    .insertInto('users')
    .values(user('a'))
    .execute()
    .then(() => {
      done = true
    })
  let turns = 0
  const until = performance.now() + 300
  while (performance.now() < until) {
    await sleep(1)
    turns++
  }
  assert.equal(done, false)
  assert.ok(turns > 20, `the event loop turned ${turns} times while the database was locked`)
  other.exec('commit')
  await insert
  assert.equal(done, true)
})

test('a PostgreSQL that ends its connections fails what runs, and is used again after', {
  skip: lacks('postgres'),
  timeout: 120_000,
}, async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const { db, close } = await openDatabase({ databaseUrl, dataDir: '' })
  cleanUp(t, close)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  cleanUp(t, () => client.end())
  let over = false
  cleanUp(t, () => {
    over = true
  })
  let failed = 0
  const asking = Array.from({ length: 10 }, async () => {
    while (!over) {
      await sql`select 1`.execute(db).catch(() => {
        failed++
      })
    }
  })
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  for (let round = 0; round < 20 || failed === 0; round++) {
    await client.query(end)
    await sleep(20)
  }
  over = true
  await Promise.all(asking)
  // A connection that is about to be closed may still be handed out once.
  const answers = () =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    )
  while (!(await answers())) await sleep(20)
})
