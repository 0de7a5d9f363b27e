import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as openSocket, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeLogger } from '../http/logger.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { openTestServer } from '../testing/test-server.ts'
import { RedisLimiter } from './redis-limiter.ts'

function redisUrl(): string {
  const url = process.env['WAYLEAVE_TEST_REDIS_URL']
  if (!url) throw new Error('WAYLEAVE_TEST_REDIS_URL is not set: run the tests with npm test.')
  return url
}

async function openLimiter(t: TestContext, url = redisUrl()) {
  const lines: string[] = []
  const limiter = await RedisLimiter.open(
    url,
    makeLogger('info', (line) => lines.push(line)),
  )
  cleanUp(t, () => limiter.close())
  return { limiter, lines }
}

/** Stands between us and Redis, so that a test can cut the line or let it hang. */
async function openProxy(t: TestContext) {
  const target = new URL(redisUrl())
  const sockets = new Set<Socket>()
  let hangs = false
  const server = createServer((near) => {
    const far = openSocket(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => hangs || to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    sockets.clear()
    await closed
  }
  const port = await listen(0)
  cleanUp(t, () => (server.listening ? cut() : undefined))
  const url = new URL(target)
  url.port = String(port)
  return { url: url.href, cut, restore: () => listen(port), hang: (value: boolean) => (hangs = value) }
}

const rate = { requests: 60, burst: 10 }

test('two nodes share one bucket: of many requests at once exactly the burst passes', async (t) => {
  const one = await openLimiter(t)
  const two = await openLimiter(t)
  const bucket = randomUUID()
  const decisions = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).limiter.take(bucket, rate)),
  )
  assert.equal(decisions.filter(({ allowed }) => allowed).length, 10)
  assert.ok(!(await one.limiter.peek(bucket, rate)).allowed)
  assert.ok((await two.limiter.peek(randomUUID(), rate)).allowed)
  assert.deepEqual([...one.lines, ...two.lines], [])
})

test('two servers on one Redis count one address together', async (t) => {
  const settings = { redisUrl: redisUrl(), addressRate: 4 }
  const one = await openTestServer(t, { settings })
  const two = await openTestServer(t, { settings })
  const statuses: number[] = []
  for (const node of [one, two, one, two, one, two]) {
    statuses.push((await node.request('GET', '/v1/api-keys/my-keys')).status)
  }
  // Redis outlives the test: a run within the same minute may begin with a bucket that is partly used.
  assert.equal(statuses.at(-1), 429)
  assert.equal(statuses.at(-2), 429)
})

test('without Redis requests pass, with one warning, and limits hold again when it is back', async (t) => {
  const proxy = await openProxy(t)
  const { limiter, lines } = await openLimiter(t, proxy.url)
  const bucket = randomUUID()
  for (let i = 0; i < 10; i++) await limiter.take(bucket, rate)
  assert.ok(!(await limiter.take(bucket, rate)).allowed)

  await proxy.cut()
  for (let i = 0; i < 30; i++) assert.ok((await limiter.take(bucket, rate)).allowed)
  assert.equal(lines.filter((line) => line.includes('rate limits are not applied')).length, 1)

  await proxy.restore()
  while ((await limiter.take(bucket, { requests: 1, burst: 1 })).allowed) await sleep(50)
  assert.equal(lines.filter((line) => line.includes('rate limits are not applied')).length, 1)
  assert.equal(lines.filter((line) => line.includes('Redis answers again')).length, 1)
})

test('a Redis that hangs lets requests pass after one short wait, not one each', async (t) => {
  const proxy = await openProxy(t)
  const { limiter, lines } = await openLimiter(t, proxy.url)
  const bucket = randomUUID()
  assert.ok((await limiter.take(bucket, rate)).allowed)
  proxy.hang(true)
  assert.ok((await limiter.take(bucket, rate)).allowed)
  let asked = 0
  const settled = Promise.all(
    Array.from({ length: 100 }, () =>
      limiter.take(bucket, rate).then(({ allowed }) => (asked += Number(allowed))),
    ),
  )
  await new Promise(setImmediate)
  assert.equal(asked, 100)
  await settled
  assert.equal(lines.filter((line) => line.includes('rate limits are not applied')).length, 1)
})

test('a server whose Redis was never there starts and answers', async (t) => {
  const unused = createServer().listen(0, '127.0.0.1')
  await once(unused, 'listening')
  const { port } = unused.address() as AddressInfo
  await new Promise((resolve) => unused.close(resolve))
  const service = await openTestServer(t, {
    settings: { redisUrl: `redis://127.0.0.1:${port}`, addressRate: 1 },
  })
  for (let i = 0; i < 5; i++) assert.equal((await service.request('GET', '/v1/api-keys/my-keys')).status, 401)
  assert.equal(service.logLines.filter((line) => line.includes('rate limits are not applied')).length, 1)
})
