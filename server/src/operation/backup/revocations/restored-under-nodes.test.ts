import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { TcpProxy } from '../../../../../scripts/test-servers/tcp-proxy.ts'
import { readNothing } from '../../../base/database/heartbeat-store.ts'
import { type Account, createKey, openAccount } from '../../../testing/account.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { openTestServer, type TestServer, temporaryDatabase } from '../../../testing/test-server.ts'
import { revocationLogFile } from './revocation-log.ts'
import { readRevocations } from './revocations.ts'

const TABLES = ['changes', 'change_number', 'api_keys', 'revoked_secrets']

/** The tables that a revocation changes, as they are now; `restore` puts them back. */
async function rememberTables(t: TestContext, databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  cleanUp(t, () => client.end())
  for (const table of TABLES) await client.query(`create table old_${table} as table ${table}`)
  return {
    restore: async () => {
      await client.query('begin')
      for (const table of TABLES) {
        await client.query(`delete from ${table}`)
        await client.query(`insert into ${table} select * from old_${table}`)
      }
      await client.query('commit')
    },
  }
}

async function revokeLogged(nodes: TestServer[], { token, keyId }: Account): Promise<void> {
  const answer = await nodes[0]!.request('POST', `/v1/api-keys/${keyId}/revoke`, { token })
  assert.equal(answer.status, 200, answer.text)
  for (const { config } of nodes) {
    while ((await readRevocations(revocationLogFile(config.dataDir))).size === 0) await sleep(20)
  }
}

async function statusOf(node: TestServer, key: string): Promise<number> {
  return (await node.request('GET', '/v1/datasets', { key })).status
}

/** The status of the first response that is not 503. */
async function settledStatus(node: TestServer, key: string): Promise<number> {
  for (;;) {
    const status = await statusOf(node, key)
    if (status !== 503) return status
    await sleep(20)
  }
}

/** Resolves when the circuit breaker is open: then every use fails with the same error. */
async function untilRefused({ parts }: TestServer): Promise<void> {
  const failure = () => readNothing(parts.database.db).catch((error: unknown) => error)
  for (;;) {
    const first = await failure()
    if (first !== undefined && first === (await failure())) return
    await sleep(20)
  }
}

for (const count of [1, 2]) {
  test(`a revoked key stays revoked when PostgreSQL comes back in an older state under ${count} nodes`, {
    skip: lacks('postgres'),
  }, async (t) => {
    const databaseUrl = await temporaryDatabase(t)
    const { proxy, url } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
    const nodes: TestServer[] = []
    for (let i = 0; i < count; i++) nodes.push(await openTestServer(t, { databaseUrl: url }))
    const ada = await openAccount(nodes[0]!, 'ada@example.org')
    const other = await createKey(nodes[0]!, ada, ['read'])
    const tables = await rememberTables(t, databaseUrl)
    await revokeLogged(nodes, ada)
    proxy.set('down')
    for (const node of nodes) await untilRefused(node)
    await tables.restore()
    proxy.set('open')
    for (const node of nodes) {
      assert.equal(await settledStatus(node, ada.key), 401, 'a revoked key works again')
      assert.equal(await settledStatus(node, other.secret), 200)
    }
    const { db } = nodes[0]!.parts.database
    const events = await db.selectFrom('events').selectAll().where('actor', '=', 'operator').execute()
    assert.equal(events.filter(({ action }) => action === 'key.revoked').length, 1)
  })
}

test('a node serves nothing while it cannot apply its revocations to a restored database', {
  skip: lacks('postgres'),
}, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const { proxy, url } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const node = await openTestServer(t, { databaseUrl: url })
  const ada = await openAccount(node, 'ada@example.org')
  const tables = await rememberTables(t, databaseUrl)
  await revokeLogged([node], ada)
  const log = revocationLogFile(node.config.dataDir)
  proxy.set('down')
  renameSync(log, `${log}.away`)
  mkdirSync(log)
  await tables.restore()
  proxy.set('open')
  const failures = () => node.logLines.filter((line) => line.includes('could not be applied again')).length
  while (failures() < 3) {
    assert.equal(await statusOf(node, ada.key), 503)
    assert.equal((await node.request('GET', '/ready')).status, 503)
  }
  rmdirSync(log)
  renameSync(`${log}.away`, log)
  assert.equal(await settledStatus(node, ada.key), 401)
})

test('on SQLite a revoked key stays revoked when the file is restored in place', async (t) => {
  const node = await openTestServer(t)
  const ada = await openAccount(node, 'ada@example.org')
  const file = new DatabaseSync(node.parts.database.file!)
  cleanUp(t, () => file.close())
  for (const table of TABLES) file.exec(`create table old_${table} as select * from ${table}`)
  await revokeLogged([node], ada)
  const copies = TABLES.map(
    (table) => `delete from ${table}; insert into ${table} select * from old_${table};`,
  )
  file.exec(`begin; ${copies.join(' ')} commit`)
  assert.equal(await settledStatus(node, ada.key), 401)
})
