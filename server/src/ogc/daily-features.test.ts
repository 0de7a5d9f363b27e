import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../clock.ts'
import { makeLogger } from '../http/logger.ts'
import { openAccount } from '../testing/account.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { DailyFeatures } from './daily-features.ts'
import { openOgc, point } from './testing/open-ogc.ts'

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
    const again = await service.fetch(path, { headers: { 'if-none-match': headers.get('etag')! } })
    assert.equal(again.status, 304)
    assert.equal((await service.get(`${path}&filter=wrong`)).status, 400)
  }
})

test('the keys of a user’s sessions count together: a fresh one is no fresh day', async (t) => {
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

test('all nodes count together in Redis', async (t) => {
  const url = process.env['WAYLEAVE_TEST_REDIS_URL']
  if (!url) throw new Error('WAYLEAVE_TEST_REDIS_URL is not set: run the tests with npm test.')
  const log = makeLogger('silent', () => {})
  const clock = () => new Date()
  const nodes = [new DailyFeatures(100, clock, url, log), new DailyFeatures(100, clock, url, log)]
  for (const node of nodes) cleanUp(t, () => node.close())
  await Promise.all(nodes.map((node) => node.ready()))
  const key = `key-${Math.random()}`
  const taken = await Promise.all(
    [0, 1, 0, 1].map((n) => Promise.resolve(nodes[n]!.take(key, 30)).catch(() => 0)),
  )
  assert.equal(
    taken.reduce((sum, n) => sum + n, 0),
    100,
  )
  nodes[0]!.giveBack(key, 5)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(await nodes[1]!.take(key, 30), 5)
})
