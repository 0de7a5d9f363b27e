import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { keyOpens } from '../../../testing/key-opens.ts'
import { signIn } from '../../../testing/sign-in.ts'
import {
  databaseKinds,
  emptyDatabase,
  openTestServer,
  type TestServer,
  temporaryFolder,
} from '../../../testing/test-server.ts'
import { openChanges } from '../changes/open-changes.ts'
import { openDatabase } from '../open.ts'

needs('postgres')

const MAP = { name: 'Map', permissions: ['read'] }

async function createKey(service: TestServer, token: string) {
  const answer = await service.request('POST', '/v1/api-keys/personal', { token, body: MAP })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: string; secret: string }
}

/** Remembers the current contents of the tables that record changes; `restore` puts them back. */
function rememberHistory(databaseUrl: string) {
  const client = async <T>(work: (connection: pg.Client) => Promise<T>): Promise<T> => {
    const connection = new pg.Client({ connectionString: databaseUrl })
    await connection.connect()
    return work(connection).finally(() => connection.end())
  }
  return {
    remember: () =>
      client(async (connection) => {
        for (const table of ['changes', 'change_number', 'api_keys']) {
          await connection.query(`create table old_${table} as table ${table}`)
        }
      }),
    /** Like a real restore, this breaks the connections of all nodes. */
    restore: () =>
      client(async (connection) => {
        await connection.query('begin')
        for (const table of ['changes', 'change_number', 'api_keys']) {
          await connection.query(`delete from ${table}`)
          await connection.query(`insert into ${table} select * from old_${table}`)
        }
        await connection.query('commit')
        await connection.query(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        )
      }),
  }
}

for (const climbing of [0, 60]) {
  test(`after a restore to an older state a revoked key is 401 on every node at once (${climbing} changes later)`, async (t) => {
    const databaseUrl = await emptyDatabase(t)
    const dataDir = temporaryFolder(t)
    const history = rememberHistory(databaseUrl)
    const nodes = [
      await openTestServer(t, { databaseUrl, dataDir }),
      await openTestServer(t, { databaseUrl, dataDir }),
      await openTestServer(t, { databaseUrl, dataDir }),
    ] as const
    const [one] = nodes
    const { token } = await signIn(one, 'ada@example.org')
    const keys = await Promise.all(Array.from({ length: 6 }, () => createKey(one, token)))
    await history.remember()
    // Changes that the restore undoes: the nodes apply higher numbers than the backup contains.
    const changes = one.parts.changes
    for (let i = 0; i < 40; i++) await changes.commit(async (_tx, changed) => changed('user', `u${i}`))
    for (const node of nodes) for (const { secret } of keys) assert.ok(await keyOpens(node, secret))
    await history.restore()
    const outside = await openDatabase({ databaseUrl, dataDir })
    cleanUp(t, () => outside.close())
    // Between two polls of a node, the number can become higher than the one it has seen.
    const commandLine = await openChanges(outside, { nodeId: 'command-line', serving: false })
    for (let i = 0; i < climbing; i++) {
      await outside.db.transaction().execute(async (tx) => {
        await sql`update change_number set number = number + 1, token = ${`other ${i}`}`.execute(tx)
        await sql`insert into changes (number, subject, subject_id, at, token)
          select number, 'user', 'x', '2026-01-01T00:00:00.000Z', token from change_number`.execute(tx)
      })
    }
    await commandLine.close()
    for (const { id, secret } of keys) {
      await untilServed(one, secret)
      const revoked = await untilDone(() => one.request('POST', `/v1/api-keys/${id}/revoke`, { token }))
      assert.equal(revoked.status, 200, revoked.text)
      for (const node of nodes) assert.ok(!(await keyOpens(node, secret)), 'a revoked key works')
    }
  })
}

/** Connections that the restore closed may fail one call each. */
async function untilDone<T extends { status: number }>(call: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    const answer = await call()
    if (answer.status < 500 || round > 50) return answer
    await sleep(100)
  }
}

async function untilServed(node: TestServer, secret: string): Promise<void> {
  await untilDone(() => node.request('GET', '/v1/ogc/collections', { key: secret }))
}

for (const kind of databaseKinds) {
  test(`a node that finds another history forgets everything, on ${kind}`, async (t) => {
    const options = {
      dataDir: temporaryFolder(t),
      databaseUrl: kind === 'postgres' ? await emptyDatabase(t) : null,
    }
    const database = await openDatabase(options)
    cleanUp(t, () => database.close())
    const changes = await openChanges(database, { nodeId: 'node', serving: true })
    cleanUp(t, () => changes.close())
    const heard: string[] = []
    changes.listen((subject, id) => heard.push(`${subject} ${id}`))
    for (let i = 0; i < 3; i++) await changes.commit(async (_tx, changed) => changed('key', `k${i}`))
    assert.deepEqual(heard.splice(0), ['key k0', 'key k1', 'key k2'])
    // Simulates a restore: the last change never happened, and another one has its number.
    await database.db.transaction().execute(async (tx) => {
      await sql`delete from changes where number = (select number from change_number)`.execute(tx)
      await sql`insert into changes (number, subject, subject_id, at, token)
        select number, 'user', 'u', '2026-01-01T00:00:00.000Z', 'other' from change_number`.execute(tx)
      await sql`update change_number set token = 'other'`.execute(tx)
    })
    await changes.commit(async (_tx, changed) => changed('key', 'k4'))
    assert.ok(changes.trusted())
    assert.ok(heard.includes('everything '), heard.join())
    // The feed continues from there.
    heard.length = 0
    await changes.commit(async (_tx, changed) => changed('key', 'k5'))
    assert.ok(changes.trusted())
    assert.deepEqual(heard, ['key k5'])
  })
}

test('a change waits for nodes whose leases a restored database does not know', async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const options = { dataDir: temporaryFolder(t), databaseUrl }
  const database = await openDatabase(options)
  cleanUp(t, () => database.close())
  const [one, two] = [
    await openChanges(database, { nodeId: 'one', serving: true }),
    await openChanges(database, { nodeId: 'two', serving: true }),
  ]
  cleanUp(t, () => Promise.all([one.close(), two.close()]))
  const heard: string[] = []
  two.listen((subject, id) => heard.push(`${subject} ${id}`))
  await one.commit(async (_tx, changed) => changed('key', 'k0'))
  const { number } = await database.db.selectFrom('change_number').select('number').executeTakeFirstOrThrow()
  for (let i = 0; i < 3; i++) await one.commit(async (_tx, changed) => changed('key', `later ${i}`))
  while (!two.trusted()) await sleep(5)
  heard.length = 0
  // The backup has no lease of a node, and a notification may be lost with its connection.
  await database.db.transaction().execute(async (tx) => {
    await sql`delete from nodes`.execute(tx)
    await sql`delete from changes where number > ${number}`.execute(tx)
    await sql`update change_number set number = ${number},
      token = (select token from changes where number = ${number})`.execute(tx)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(tx)
  })
  await one.commit(async (_tx, changed) => changed('key', 'k1'))
  assert.ok(!two.trusted() || heard.length > 0, 'a node trusts what it has not heard to be changed')
})

test('on SQLite a lower number means that everything is forgotten', async (t) => {
  const database = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl: null })
  cleanUp(t, () => database.close())
  const changes = await openChanges(database, { nodeId: 'node', serving: true })
  cleanUp(t, () => changes.close())
  const heard: string[] = []
  changes.listen((subject, id) => heard.push(`${subject} ${id}`))
  for (let i = 0; i < 3; i++) await changes.commit(async (_tx, changed) => changed('key', `k${i}`))
  heard.length = 0
  const elsewhere = new DatabaseSync(database.file!)
  elsewhere.exec(`begin; delete from changes where number > 1;
    update change_number set number = 1, token = (select token from changes where number = 1); commit`)
  elsewhere.close()
  for (const begin = performance.now(); performance.now() - begin < 5; );
  assert.ok(changes.trusted())
  assert.deepEqual(heard, ['everything '])
})

test('a dump that is restored over the database of running nodes is followed by every node', async (t) => {
  const databaseUrl = await emptyDatabase(t)
  const dataDir = temporaryFolder(t)
  const nodes = [
    await openTestServer(t, { databaseUrl, dataDir }),
    await openTestServer(t, { databaseUrl, dataDir }),
  ] as const
  const [one] = nodes
  const { token } = await signIn(one, 'ada@example.org')
  const { id, secret } = await createKey(one, token)
  const dump = execFileSync('pg_dump', ['--format=custom', '--dbname', databaseUrl])
  for (let i = 0; i < 20; i++) {
    await one.parts.changes.commit(async (_tx, changed) => changed('user', `u${i}`))
  }
  for (const node of nodes) assert.ok(await keyOpens(node, secret))
  execFileSync(
    'pg_restore',
    ['--clean', '--if-exists', '--single-transaction', '--no-owner', '--dbname', databaseUrl],
    { input: dump, stdio: ['pipe', 'ignore', 'inherit'] },
  )
  await untilServed(one, secret)
  const revoked = await untilDone(() => one.request('POST', `/v1/api-keys/${id}/revoke`, { token }))
  assert.equal(revoked.status, 200, revoked.text)
  for (const node of nodes) assert.ok(!(await keyOpens(node, secret)), 'a revoked key works')
})
