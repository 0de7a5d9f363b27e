import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { TcpProxy } from '../../../../scripts/test-servers/tcp-proxy.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { signIn } from '../../testing/sign-in.ts'
import {
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { SECOND } from '../clock.ts'
import { openChanges } from './changes/open-changes.ts'
import { openDatabase } from './open.ts'

needs('postgres', 'processes')

const MAP = { name: 'Map', permissions: ['read'] }

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/ready`)).status === 200
}

test('a node that is cut off trusts no cache, and a change does not wait for it past its lease', async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const { proxy, url: proxied } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const open = async (url: string, nodeId: string) => {
    const database = await openDatabase({ databaseUrl: url, dataDir })
    const changes = await openChanges(database, { nodeId, serving: true })
    cleanUp(t, async () => {
      await changes.close()
      await database.close()
    })
    return changes
  }
  const one = await open(databaseUrl, 'one')
  const two = await open(proxied, 'two')
  await until('trust', async () => two.trusted())
  proxy.cut()
  await one.commit(async (_tx, changed) => changed('key', 'k'))
  assert.ok(!two.trusted(), 'the lease lapsed on the database and not on the node')
  proxy.set('open')
  await until('trust after the link has healed', async () => two.trusted())
})

test('a link that dies inside a transaction leaves no locks behind', async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const { proxy, url: proxied } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const healthy = await openDatabase({ databaseUrl, dataDir })
  cleanUp(t, () => healthy.close())
  const cutOff = await openDatabase({ databaseUrl: proxied, dataDir, databaseTimeout: 2 })
  cleanUp(t, () => cutOff.close())
  const batch = { id: 'a', at: new Date().toISOString() }
  const interrupted = cutOff.db.transaction().execute(async (tx) => {
    await tx.insertInto('usage_batches').values(batch).execute()
    proxy.cut()
    await tx.selectFrom('usage_batches').selectAll().execute()
  })
  await assert.rejects(interrupted, { failure: 'database-unavailable' })
  // The server ends the transaction, which it cannot know to be dead, after the client's timeout.
  await healthy.db.insertInto('usage_batches').values(batch).execute()
  proxy.set('open')
})

test('behind a frozen link requests get 503 in bounded time, and the node recovers by itself, 3 times of 3', async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const { proxy, url: proxied } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const healthy = await openTestServer(t, { databaseUrl, dataDir })
  const settings = { databaseTimeout: 2 }
  const cutOff = await openTestServer(t, { databaseUrl: proxied, dataDir, settings })
  const { token } = await signIn(healthy, 'ada@example.org')
  for (let round = 0; round < 3; round++) {
    const { id, secret } = await createKey(healthy, token)
    assert.ok(await keyOpens(cutOff, secret))
    await until('readiness', () => isReady(cutOff.url))
    proxy.cut()
    // The key is revoked on the other node while this one cannot be notified.
    const revoked = await healthy.request('POST', `/v1/api-keys/${id}/revoke`, { token })
    assert.equal(revoked.status, 200, revoked.text)
    const requests = [
      ['/v1/ogc/collections', { key: secret }],
      ['/v1/api-keys/my-keys', { token }],
      ['/v1/datasets', {}],
    ] as const
    // Each takes as long as the timeout of the database, so they are sent at once.
    await Promise.all(
      requests.map(async ([path, options]) => {
        const answer = await cutOff.request('GET', path, options)
        assert.equal(answer.status, 503, `${path} ${answer.text}`)
        assert.equal(answer.body.code, 'database-unavailable')
        assert.ok(Number(answer.headers.get('retry-after')) > 0)
      }),
    )
    const ready = await cutOff.request('GET', '/ready')
    assert.equal(ready.status, 503)
    assert.equal(ready.body.code, 'not-ready')
    const failed = ready.body.checks.map(({ check }: { check: string }) => check)
    assert.ok(failed.includes('database') && failed.includes('lease'), failed.join())
    assert.ok(
      !JSON.stringify(ready.body.checks).includes('127.0.0.1'),
      'addresses of the inside are not told',
    )
    assert.equal((await cutOff.request('GET', '/health')).status, 200)
    proxy.set('open')
    await until('recovery', () => isReady(cutOff.url))
    assert.ok(!(await keyOpens(cutOff, secret)), 'a revoked key works')
  }
})

async function createKey(service: TestServer, token: string) {
  const answer = await service.request('POST', '/v1/api-keys/personal', { token, body: MAP })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: string; secret: string }
}

for (const requests of [0, 30]) {
  test(`a node whose database link is frozen stops on SIGTERM with ${requests} requests under way`, async (t) => {
    const databaseUrl = await temporaryDatabase(t)
    const { proxy, url: proxied } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
    const { url, child } = await startServerProcess(t, temporaryFolder(t), {
      WAYLEAVE_DATABASE_URL: proxied,
    })
    await until('readiness', () => isReady(url))
    proxy.cut()
    const asked = Array.from({ length: requests }, () => fetch(`${url}/v1/datasets`).catch(() => null))
    await sleep(100)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    const [code, signal] = await Promise.race([exit, sleep(60 * SECOND, ['still running', null])])
    await Promise.all(asked)
    assert.ok(code === 0 || code === 1, `${code} ${signal}`)
  })
}

test('without PostgreSQL every response is 503, and the log gets a line a second', async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const { proxy, url: proxied } = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const service = await openTestServer(t, { databaseUrl: proxied })
  const { token } = await signIn(service, 'ada@example.org')
  await proxy.close()
  await until('the outage', async () => !(await isReady(service.url)))
  // Until the lease expires, the caches are still used.
  await until('the end of the lease', async () => !service.parts.changes.trusted())
  const before = service.logLines.length
  const began = performance.now()
  const statuses: number[] = []
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all([
      service.request('GET', '/v1/api-keys/my-keys', { token }),
      service.request('GET', '/v1/datasets'),
      service.request('POST', '/v1/api-keys/personal', { token, body: MAP }),
      service.request('GET', '/v1/dataset/places/sample/json'),
    ])
    for (const answer of answers) {
      statuses.push(answer.status)
      assert.equal(answer.headers.get('retry-after'), '2', answer.text)
    }
  }
  assert.deepEqual([...new Set(statuses)], [503])
  await sleep(SECOND)
  const seconds = (performance.now() - began) / SECOND
  const lines = service.logLines.slice(before).map((line) => JSON.parse(line))
  const outages = lines.filter((line) => line.failure === 'database-unavailable')
  assert.ok(outages.length > 0 && outages.length <= seconds + 2, `${outages.length} lines`)
  assert.equal(
    outages.reduce((sum, line) => sum + line.requests, 0),
    160,
  )
  const withStack = lines.filter((line) => line.err?.stack && line.level >= 50)
  assert.deepEqual(withStack, [])
})
