import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { type OgcService, openOgc, point } from '../testing/open-ogc.ts'

/** More often than a page has to be requested until it is kept. */
const TIMES = 4

const points = Array.from({ length: 30 }, (_, i) => point(i, i, { i }))

test('a page that is requested again has the time of each request, and is otherwise the same', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', points)
  const texts = new Set<string>()
  for (let i = 0; i < TIMES; i++) {
    const before = Date.now()
    const { text, body } = await service.get('/collections/places/items?limit=3&bbox=-1,-1,20,20')
    const time = Date.parse(body.timeStamp)
    assert.ok(time >= before && time <= Date.now())
    assert.equal(body.numberMatched, 21)
    texts.add(text.replace(body.timeStamp, ''))
  }
  assert.equal(texts.size, 1)
})

test('a page that is requested again has links to the host of each request', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', points)
  const { port } = new URL(service.url)
  for (let i = 0; i < TIMES; i++) {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const { links } = await getFrom(service, host, '/collections/places/items?limit=3')
      for (const { href } of links) assert.equal(new URL(href).host, host)
    }
  }
})

async function getFrom(
  service: OgcService,
  host: string,
  path: string,
): Promise<{ links: { href: string }[] }> {
  const headers = { host, 'x-api-key': service.key }
  const [response] = (await once(request(`${service.url}/v1/ogc${path}`, { headers }).end(), 'response')) as [
    IncomingMessage,
  ]
  return JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
}

test('a page that is requested again has the number of all matches once they were counted', async (t) => {
  const service = await openOgc(t)
  await service.publish(
    'areas',
    Array.from({ length: 200 }, (_, i) => square(i / 1000)),
  )
  const path = '/collections/areas/items?limit=3&bbox=0.5,0,2,2'
  for (let i = 0; i < TIMES; i++) assert.equal((await service.get(path)).body.numberMatched, undefined)
  assert.equal((await service.get(`${path}&resulttype=hits`)).body.numberMatched, 200)
  for (let i = 0; i < TIMES; i++) assert.equal((await service.get(path)).body.numberMatched, 200)
})

/** On the western edge of the box. */
function square(south: number): object {
  const ring = [
    [0, south],
    [1, south],
    [1, south + 1],
    [0, south],
  ]
  return { type: 'Feature', geometry: { type: 'Polygon', coordinates: [ring] }, properties: {} }
}

test('a page that is requested again has no more features than its key may still have', async (t) => {
  const service = await openOgc(t, { settings: { dailyFeatures: 45 } })
  await service.publish('places', points)
  const counts: number[] = []
  for (let i = 0; i < 5; i++) {
    const { body } = await service.get('/collections/places/items?limit=10')
    assert.equal(body.features.length, body.numberReturned)
    counts.push(body.numberReturned)
  }
  assert.deepEqual(counts, [10, 10, 10, 10, 5])
})
