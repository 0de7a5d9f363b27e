import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import type { DataWork } from '../../base/data-work.ts'
import { type Account, openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'

const THREADS = 4
const BURST = 100
const ITEMS = '/v1/ogc/collections/places/items?limit=2'

/** The serving threads beside the main one, by name. */
const workers = new Map<string, Worker>()
process.on('worker', (worker) => {
  if (worker.threadName?.startsWith('serving')) workers.set(worker.threadName, worker)
})

interface Reply {
  status: number
  body: string
  connection: string | undefined
}

/** One connection that stays open, and so stays with one thread. Rejects if it is lost. */
class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async get(path: string, key?: string): Promise<Reply> {
    const headers = key === undefined ? {} : { 'x-api-key': key }
    const request = get(this.#url + path, { agent: this.#agent, headers })
    const [response] = await once(request, 'response')
    return {
      status: response.statusCode,
      body: await text(response),
      connection: response.headers.connection,
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** The open connections of each thread. */
function openByThread({ parts }: TestServer): number[] {
  const numbers = new Int32Array(parts.thread!.memory.connections)
  return Array.from({ length: THREADS }, (_, i) => numbers[i * 2 + 1]!)
}

/** Connections to all threads: the system chooses a thread for each, so they are opened until all have one. */
async function connectToAll(t: TestContext, service: TestServer, least = 0): Promise<Connection[]> {
  const connections: Connection[] = []
  cleanUp(t, () => {
    for (const connection of connections) connection.close()
  })
  const counts = openByThread(service)
  const hasAll = () => openByThread(service).every((open, i) => open > counts[i]!)
  while (connections.length < least || !hasAll()) {
    const connection = new Connection(service.url)
    connections.push(connection)
    assert.equal((await connection.get('/health')).status, 200)
  }
  return connections
}

test('several threads serve as one server', { skip: lacks('time') }, async (t) => {
  let builds = 0
  const buildExport: DataWork['buildExport'] = (...args) => {
    if (args[1] === 'csv') builds++
    return sameProcessWork.buildExport(...args)
  }
  const service = await openTestServer(t, {
    settings: { threads: THREADS, keyRate: 1, keyBurst: BURST },
    work: { buildExport },
  })
  await publishText(service, 'places', 'places.geojson', points(3000))
  const account = (name: string, credits = 0): Promise<Account> =>
    openAccount(service, `${name}@example.org`, { addOns: ['GIS_ACCESS', 'API_ACCESS'], credits })

  await t.test('a revoked key is refused by every thread when the call returns', async (t) => {
    const { key, keyId, token } = await account('ada')
    const connections = await connectToAll(t, service, 24)
    for (const connection of connections) assert.equal((await connection.get(ITEMS, key)).status, 200)
    const revoked = await service.request('POST', `/v1/api-keys/${keyId}/revoke`, { token })
    assert.equal(revoked.status, 200)
    const replies = await Promise.all(connections.map((connection) => connection.get(ITEMS, key)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      connections.map(() => 401),
    )
  })

  await t.test('all threads together admit exactly the burst', async (t) => {
    const { key } = await account('grace')
    const connections = await connectToAll(t, service, 24)
    const statuses = await Promise.all(
      connections.map(async (connection) => {
        const own: number[] = []
        for (let i = 0; i < 8; i++) own.push((await connection.get(ITEMS, key)).status)
        return own
      }),
    )
    const all = statuses.flat()
    assert.equal(all.filter((status) => status === 200).length, BURST)
    assert.equal(all.filter((status) => status === 429).length, all.length - BURST)
  })

  await t.test('a file that all threads are asked for is built once, and charged once', async (t) => {
    const { key, token } = await account('edsger', 10)
    const connections = await connectToAll(t, service)
    const replies = await Promise.all(
      connections.map((connection) => connection.get('/v1/dataset/places/files/csv', key)),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.equal(new Set(replies.map(({ body }) => body)).size, 1)
    // A thread that asks when the file is just finished may add a job, which finds the file.
    assert.equal(builds, 1)
    const me = await service.request('GET', '/v1/organization/me', { token })
    assert.equal(me.body.credits.balance, 9)
  })

  await t.test('metrics are those of all threads, whichever is asked', async (t) => {
    const { key } = await account('alan')
    const connections = await connectToAll(t, service)
    const responses = async (connection: Connection) => {
      const { body } = await connection.get('/metrics')
      assert.match(body, new RegExp(`^wayleave_threads ${THREADS}$`, 'm'))
      assert.match(body, /^wayleave_process_resident_memory_bytes \d/m)
      const route = '/v1/ogc/collections/:table/items'
      const row = body
        .split('\n')
        .find((line) => line.startsWith('wayleave_http_requests_total') && line.includes(`"${route}"`))
      return Number(row?.split(' ').at(-1))
    }
    const earlier = await responses(connections[0]!)
    for (const connection of connections) assert.equal((await connection.get(ITEMS, key)).status, 200)
    for (const connection of connections)
      assert.equal((await responses(connection)) - earlier, connections.length)
  })

  await t.test('a thread that dies is replaced, and only its connections are lost', async (t) => {
    const { key } = await account('barbara')
    const connections = await connectToAll(t, service, 24)
    const [, lost] = openByThread(service)
    const first = workers.get('serving 2')!
    await first.terminate()
    const outcomes = await Promise.allSettled(connections.map((connection) => connection.get(ITEMS, key)))
    const served = outcomes.filter(({ status }) => status === 'fulfilled')
    assert.ok(served.length >= connections.length - lost!, `${served.length} of ${connections.length}`)
    for (const { value } of served as PromiseFulfilledResult<Reply>[]) assert.equal(value.status, 200)
    await until('the thread that replaces it', async () =>
      (await service.request('GET', '/metrics')).text.includes('wayleave_threads 4\n'),
    )
    assert.notEqual(workers.get('serving 2'), first)
    await connectToAll(t, service)
  })

  await t.test('a stop drains all threads, and writes what they have counted', async (t) => {
    const { key, keyId } = await account('katherine')
    const connections = await connectToAll(t, service)
    for (const connection of connections) assert.equal((await connection.get(ITEMS, key)).status, 200)
    const probes = await connectToAll(t, service)
    const stopped = service.stop(600_000)
    for (const probe of probes)
      await until('the drain of a thread', async () => (await probe.get('/ready')).status === 503)
    const replies = await Promise.all(connections.map((connection) => connection.get(ITEMS, key)))
    for (const reply of replies) assert.deepEqual([reply.status, reply.connection], [200, 'close'])
    // A second call ends the drain.
    await Promise.all([stopped, service.stop()])
    await assert.rejects(new Connection(service.url).get('/health'), { code: 'ECONNREFUSED' })
    const database = new DatabaseSync(join(service.config.dataDir, 'wayleave.db'), { readOnly: true })
    const [usage] = database.prepare('select sum(calls) as calls from usage where key_id = ?').all(keyId)
    database.close()
    assert.equal(usage!['calls'], 2 * connections.length)
    const named = new Set(service.logLines.map((line) => JSON.parse(line).thread))
    for (const thread of [2, 3, 4]) assert.ok(named.has(thread), `no line of thread ${thread}`)
  })
})
