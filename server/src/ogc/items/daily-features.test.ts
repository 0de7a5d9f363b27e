import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { startRedis } from '../../../../scripts/test-servers/redis.ts'
import { DAY } from '../../base/clock.ts'
import type { Problem } from '../../base/problem.ts'
import { openAccount } from '../../testing/account.ts'
import { openLink, ownRedis } from '../../testing/redis.ts'
import { openOgc, point } from '../testing/open-ogc.ts'
import { type CountedGrant, DailyFeatures } from './daily-features.ts'

test('a key pages through so many features a day and no more, however many requests it makes at once', async (t) => {
  let now = Date.parse('2026-03-01T22:00:00Z')
  const service = await openOgc(t, { clock: () => new Date(now), settings: { dailyFeatures: 25 } })
  const features = Array.from({ length: 40 }, (_, i) => point(i, i, { i }))
  await service.publish('places', features)
  const path = '/collections/places/items?limit=10'
  const answers = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => service.get(`${path}&filter=i<100&offset=${n}`)),
  )
  const got = answers.filter(({ status }) => status === 200).map(({ body }) => body.numberReturned)
  assert.equal(
    got.reduce((sum, n) => sum + n, 0),
    25,
  )
  const refused = await service.get(path)
  assert.deepEqual([refused.status, refused.body.code], [429, 'daily-features-reached'])
  assert.equal(refused.headers.get('retry-after'), '7200')
  assert.equal((await service.get('/collections/places')).status, 200)
  now += DAY
  assert.equal((await service.get(path)).status, 200)
})

test('what a page did not need, and what was not sent, counts for nothing', async (t) => {
  const service = await openOgc(t, { settings: { dailyFeatures: 25 } })
  await service.publish('places', [point(1, 1, { i: 1 })])
  const path = '/collections/places/items?limit=3'
  for (let i = 0; i < 15; i++) assert.equal((await service.get(path)).status, 200)
  const { headers } = await service.get(path)
  for (let i = 0; i < 30; i++) {
    assert.equal((await service.fetch(path, { method: 'HEAD' })).status, 200)
    const again = await service.fetch(path, { headers: { 'if-none-match': headers.get('etag')! } })
    assert.equal(again.status, 304)
    assert.equal((await service.get(`${path}&filter=wrong`)).status, 400)
  }
})

test('the keys of a user’s sessions share one daily limit', async (t) => {
  const service = await openOgc(t, { settings: { dailyFeatures: 10 } })
  await service.publish(
    'places',
    Array.from({ length: 40 }, (_, i) => point(i, i, { i })),
  )
  const { token } = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const statuses = []
  for (const item of ['', '', '/1']) {
    const { secret } = (await service.request('POST', '/v1/auth/session-key', { token })).body
    const path = `/v1/ogc/collections/places/items${item}`
    statuses.push((await service.request('GET', path, { key: secret })).status)
  }
  assert.deepEqual(statuses, [200, 429, 429])
})

test('a new key of the same owner does not restart the daily limit', async (t) => {
  const service = await openOgc(t, { settings: { dailyFeatures: 10 } })
  await service.publish(
    'places',
    Array.from({ length: 40 }, (_, i) => point(i, i, { i })),
  )
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const bob = await openAccount(service, 'bob@example.org', { addOns: ['GIS_ACCESS'] })
  const page = async (token: string, path: string) => {
    const body = { name: 'Map', permissions: ['read'] }
    const { id, secret } = (await service.request('POST', path, { token, body })).body
    const items = '/v1/ogc/collections/places/items?limit=10'
    const { status } = await service.request('GET', items, { key: secret })
    assert.equal((await service.request('DELETE', `/v1/api-keys/${id}`, { token })).status, 204)
    return status
  }
  const personal = '/v1/api-keys/personal'
  const shared = `/v1/api-keys/organization/${ada.organizationId}`
  assert.deepEqual([await page(ada.token, personal), await page(ada.token, personal)], [200, 429])
  assert.deepEqual([await page(ada.token, shared), await page(ada.token, shared)], [200, 429])
  assert.equal(await page(bob.token, personal), 200)
})

test('all nodes count together in Redis', { skip: lacks('redis') }, async (t) => {
  const clock = () => new Date()
  const links = [await openLink(t), await openLink(t)]
  const nodes = links.map(({ link }) => new DailyFeatures(100, clock, link))
  const owner = { owner: randomUUID(), dailyFeatures: null }
  const counts = await Promise.all([0, 1, 0, 1].map((n) => takeCount(nodes[n]!, owner, 30)))
  assert.equal(sum(counts), 100)
  nodes[0]!.release(owner, { count: 30, day: Math.floor(Date.now() / DAY), isShared: true }, 5)
  await sleep(50)
  assert.equal(await takeCount(nodes[1]!, owner, 30), 5)
})

test('features returned after midnight are taken off the day before, with and without Redis', {
  skip: lacks('redis'),
}, async (t) => {
  const { link } = await openLink(t)
  for (const shared of [null, link]) {
    let now = Date.parse('2026-03-01T23:59:59Z')
    const features = new DailyFeatures(100, () => new Date(now), shared)
    const owner = { owner: randomUUID(), dailyFeatures: null }
    const lastPage = await features.take(owner, 100)
    now += 2000
    assert.equal(await takeCount(features, owner, 60), 60)
    features.release(owner, lastPage, 90)
    assert.equal(await takeCount(features, owner, 60), 40)
    // The unused features of the page taken before midnight are still available to a node whose clock is
    // behind.
    now -= 2000
    assert.equal(await takeCount(features, owner, 100), 90)
  }
})

test('a paused Redis costs one wait, and a node continues from what it has counted', {
  skip: lacks('redis'),
}, async (t) => {
  const redis = ownRedis(t, await startRedis())
  const { link } = await openLink(t, redis.url)
  const features = new DailyFeatures(100, () => new Date(), link)
  const owner = { owner: randomUUID(), dailyFeatures: null }
  assert.equal(await takeCount(features, owner, 40), 40)
  redis.pause()
  assert.equal(await takeCount(features, owner, 40), 40)
  // Pages no longer wait for Redis: the result is available synchronously.
  const page = features.take(owner, 40)
  assert.ok(!(page instanceof Promise))
  assert.equal(page.count, 20)
  assert.throws(() => features.take(owner, 40), { code: 'daily-features-reached' })
  features.release(owner, page, 10)
  redis.resume()
  while (!link.isUp) await sleep(20)
  assert.equal(await takeCount(features, owner, 40), 10)
  assert.equal(await takeCount(features, owner, 40), 0)
})

async function takeCount(features: DailyFeatures, owner: CountedGrant, wanted: number): Promise<number> {
  try {
    return (await features.take(owner, wanted)).count
  } catch (error) {
    assert.equal((error as Problem).code, 'daily-features-reached')
    return 0
  }
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
