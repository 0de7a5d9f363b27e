import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { startRedis } from '../../../../scripts/test-servers/redis.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { openLink, openRedisProxy, ownRedis, sharedRedisUrl, unusedRedisUrl } from '../../testing/redis.ts'
import { openTestServer } from '../../testing/test-server.ts'
import type { Decision, Rate } from './limiter.ts'
import { RedisLimiter } from './redis-limiter.ts'

needs('redis')

async function openLimiter(t: TestContext, url?: string, replyMs?: number) {
  const opened = await openLink(t, url, replyMs)
  const limiter = new RedisLimiter(opened.link)
  cleanUp(t, () => limiter.close())
  return { ...opened, limiter }
}

/** So slow that the bucket does not refill during a test. */
const rate: Rate = { requests: 10, burst: 10, windowSeconds: 86_400 }

const countAllowed = (decisions: Decision[]) => decisions.filter(({ allowed }) => allowed).length

function takeMany(limiter: RedisLimiter, bucket: string, count: number): Promise<Decision[]> {
  return Promise.all(Array.from({ length: count }, () => limiter.take(bucket, rate)))
}

async function untilUp({ link }: { link: { isUp: boolean } }): Promise<void> {
  while (!link.isUp) await sleep(20)
}

test('two nodes share one bucket: of many requests at once exactly the burst passes', async (t) => {
  const one = await openLimiter(t)
  const two = await openLimiter(t)
  const bucket = randomUUID()
  const decisions = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).limiter.take(bucket, rate)),
  )
  assert.equal(countAllowed(decisions), 10)
  assert.ok(!(await one.limiter.peek(bucket, rate)).allowed)
  assert.ok((await two.limiter.peek(randomUUID(), rate)).allowed)
  assert.deepEqual([...one.lines, ...two.lines], [])
})

test('requests that share a command are decided as if each had its own', async (t) => {
  const { limiter } = await openLimiter(t)
  const rates = fc.record({
    requests: fc.integer({ min: 1, max: 50 }),
    burst: fc.integer({ min: 1, max: 50 }),
    windowSeconds: fc.constant(86_400),
  })
  await fc.assert(
    fc.asyncProperty(rates, fc.integer({ min: 1, max: 80 }), async (someRate, count) => {
      const bucket = randomUUID()
      const taken = Array.from({ length: count }, () => limiter.take(bucket, someRate))
      const remaining = (await Promise.all(taken)).map((decision) =>
        decision.allowed ? decision.remaining : -1,
      )
      const expected = Array.from({ length: count }, (_, i) => Math.max(-1, someRate.burst - 1 - i))
      assert.deepEqual(remaining, expected)
    }),
    { numRuns: 50 },
  )
})

test('two servers on one Redis count one address together', async (t) => {
  const settings = { redisUrl: sharedRedisUrl(), addressRate: 4 }
  const one = await openTestServer(t, { settings })
  const two = await openTestServer(t, { settings })
  const statuses: number[] = []
  for (const node of [one, two, one, two, one, two]) {
    statuses.push((await node.request('GET', '/v1/api-keys/my-keys')).status)
  }
  // Redis outlives the test: a run within the same minute may start with a partly used bucket.
  assert.equal(statuses.at(-1), 429)
  assert.equal(statuses.at(-2), 429)
})

test('requests are taken from two buckets together, or from neither, on all nodes and without Redis', async (t) => {
  const nodes = [await openLimiter(t), await openLimiter(t)]
  const away = await openLimiter(t, await unusedRedisUrl())
  for (const limiters of [nodes.map(({ limiter }) => limiter), [away.limiter]]) {
    const owner = { name: `owner:${randomUUID()}`, rate: { ...rate, burst: 25 } }
    const keys = Array.from({ length: 4 }, () => ({ name: `key:${randomUUID()}`, rate }))
    const take = (i: number) => limiters[i % limiters.length]!.takeBoth(keys[i % 4]!, owner)
    const joint = await Promise.all(Array.from({ length: 80 }, (_, i) => take(i)))
    assert.equal(countAllowed(joint.map(({ decision }) => decision)), 25)
    const refused = joint.filter(({ decision }) => !decision.allowed)
    assert.ok(refused.some(({ bucket, decision }) => bucket === owner && decision.retryAfter > 0))
    // What the owner's bucket refused is still in the keys' buckets: 40 in all, of which 25 were taken.
    const left = await Promise.all(keys.map(({ name }) => limiters[0]!.peek(name, rate)))
    assert.equal(
      left.reduce((sum, { remaining, allowed }) => sum + (allowed ? remaining + 1 : 0), 0),
      15,
    )
  }
})

test('after the clock of Redis is set back, requests continue at the steady rate', async (t) => {
  const { limiter, link } = await openLimiter(t)
  const fast = { requests: 60_000, burst: 5 }
  const [one, first, second] = [randomUUID(), randomUUID(), randomUUID()]
  const inAnHour = String((Date.now() + 3_600_000) * 1000)
  for (const name of [one, first, second])
    await link.run((redis) => redis.set(`wayleave:bucket:${name}`, inAnHour))
  const takes = [
    () => limiter.take(one, fast),
    async () => (await limiter.takeBoth({ name: first, rate: fast }, { name: second, rate: fast })).decision,
  ]
  for (const take of takes) {
    const refused = await take()
    assert.deepEqual([refused.allowed, refused.retryAfter], [false, 1])
    while (!(await take()).allowed) await sleep(1)
  }
})

test('a request that must be refused is refused without asking Redis', async (t) => {
  const proxy = await openRedisProxy(t)
  const { limiter, link } = await openLimiter(t, proxy.url, 30_000)
  const bucket = randomUUID()
  await takeMany(limiter, bucket, 11)
  proxy.hang(true)
  const decision = limiter.take(bucket, rate)
  assert.ok(!(decision instanceof Promise) && !decision.allowed && decision.retryAfter > 0)
  assert.ok(link.isUp)
})

test('a busy event loop is not taken for a slow Redis', async (t) => {
  const { limiter, link, lines } = await openLimiter(t, sharedRedisUrl(), 600)
  const bucket = randomUUID()
  const decisions: Promise<Decision>[] = []
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 300; i++) {
      decisions.push(
        Promise.resolve(limiter.take(bucket, rate)),
        Promise.resolve(limiter.take(randomUUID(), rate)),
      )
    }
    const until = performance.now() + 700
    while (performance.now() < until);
    await new Promise(setImmediate)
  }
  assert.equal(countAllowed(await Promise.all(decisions)), 10 + 900)
  assert.deepEqual([link.isUp, link.outages, lines], [true, 0, []])
})

test('without Redis a node continues from what it has seen, with one warning, until Redis is back', async (t) => {
  const proxy = await openRedisProxy(t)
  const node = await openLimiter(t, proxy.url, 30_000)
  const { limiter } = node
  const [halfUsed, unused] = [randomUUID(), randomUUID()]
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 5)), 5)

  await proxy.cut()
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 30)), 5)
  assert.equal(countAllowed(await takeMany(limiter, unused, 30)), 10)
  assert.equal(node.warnings(), 1)

  await proxy.restore()
  await untilUp(node)
  // Requests counted without Redis also count for the other nodes once this node has used the bucket again.
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 30)), 0)
  assert.equal(countAllowed(await takeMany(limiter, unused, 30)), 0)
  assert.deepEqual([node.warnings(), node.recoveries()], [1, 1])
})

test('what a node counted during an outage is added to Redis', async (t) => {
  const proxy = await openRedisProxy(t)
  const node = await openLimiter(t, proxy.url, 30_000)
  const other = await openLimiter(t)
  const bucket = randomUUID()
  await proxy.cut()
  assert.equal(countAllowed(await takeMany(node.limiter, bucket, 8)), 8)
  await proxy.restore()
  await untilUp(node)
  assert.equal(countAllowed(await takeMany(node.limiter, bucket, 1)), 1)
  assert.equal(countAllowed(await takeMany(other.limiter, bucket, 30)), 1)
})

test('a Redis that is paused costs one short wait, and the limit holds before, during and after', async (t) => {
  const redis = ownRedis(t, await startRedis())
  const node = await openLimiter(t, redis.url)
  const { limiter } = node
  const [halfUsed, unused] = [randomUUID(), randomUUID()]
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 5)), 5)
  redis.pause()
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 30)), 5)
  // From now on decisions are synchronous.
  const decisions = Array.from({ length: 30 }, () => limiter.take(unused, rate))
  assert.ok(decisions.every((decision) => !(decision instanceof Promise)))
  assert.equal(countAllowed(decisions as Decision[]), 10)
  assert.equal(node.warnings(), 1)
  // Long enough for a probe to be waiting for its reply.
  await sleep(1000)
  assert.ok(!node.link.isUp)
  redis.resume()
  await untilUp(node)
  assert.equal(countAllowed(await takeMany(limiter, halfUsed, 30)), 0)
  assert.equal(countAllowed(await takeMany(limiter, unused, 30)), 0)
})

test('a connection that the network has dropped silently is opened anew', async (t) => {
  const proxy = await openRedisProxy(t)
  const node = await openLimiter(t, proxy.url)
  proxy.hang(true)
  assert.ok((await node.limiter.take(randomUUID(), rate)).allowed)
  assert.ok(!node.link.isUp)
  // The connection stays open, but everything sent on it so far is lost: the replies never arrive.
  await sleep(1000)
  proxy.hang(false)
  await untilUp(node)
  const bucket = randomUUID()
  assert.equal(countAllowed(await takeMany(node.limiter, bucket, 30)), 10)
})

test('a server whose Redis is stopped, or was never there, still applies its limits', async (t) => {
  const redis = ownRedis(t, await startRedis())
  for (const url of [redis.url, await unusedRedisUrl()]) {
    const service = await openTestServer(t, { settings: { redisUrl: url, addressRate: 4 } })
    if (url === redis.url) await redis.stop()
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) statuses.push((await service.request('GET', '/v1/api-keys/my-keys')).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 429, 429, 429, 429])
    const warnings = service.logLines.filter((line) =>
      line.includes('each node applies the limits by itself'),
    )
    assert.equal(warnings.length, 1)
  }
})

test('a charge on one node reaches the others with its next request', async (t) => {
  const one = await openLimiter(t)
  const two = await openLimiter(t)
  const name = randomUUID()
  one.limiter.charge({ name, rate }, 7)
  assert.equal((await one.limiter.take(name, rate)).remaining, 2)
  assert.equal((await two.limiter.take(name, rate)).remaining, 1)
})
