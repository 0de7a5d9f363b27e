import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { TimedWork } from '@wayleave/query'
import { type OgcService, openOgc } from '../testing/open-ogc.ts'

const MERCATOR = 'crs=http://www.opengis.net/def/crs/EPSG/0/3857'
const PAGE_BYTES = 20_000
const COUNT = 150

/** Polygons of about 1 to 5 KB; one of them is larger than a page may be. */
function polygons(): object[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const corners = i === 77 ? 2000 : 30 + (i % 90)
    const ring = Array.from({ length: corners }, (_, k) => {
      const angle = (k / corners) * 2 * Math.PI
      return [i + Math.cos(angle) / 3, Math.sin(angle) / 3]
    })
    const geometry = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
    return { type: 'Feature', geometry, properties: { i, name: `Polygon ${i}` } }
  })
}

async function openPolygons(t: Parameters<typeof openOgc>[0]): Promise<OgcService> {
  const service = await openOgc(t, { settings: { maxPageBytes: PAGE_BYTES } })
  await service.publish('polygons', polygons())
  return service
}

const numbersOf = (features: { properties: { i: number } }[]) =>
  features.map(({ properties }) => properties.i)
const items = '/collections/polygons/items?limit=10000'

/** Reads all pages; each says how many features it has, and has at least one. */
async function readPages(service: OgcService, path: string): Promise<number[]> {
  const all: number[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, body, text } = await service.get(next)
    assert.equal(status, 200, text)
    assert.equal(body.numberReturned, body.features.length)
    assert.equal(body.numberMatched, COUNT)
    assert.ok(body.features.length > 0)
    assert.ok(body.features.length < 40, `${body.features.length} features in one page`)
    all.push(...numbersOf(body.features))
    next = body.links.find(({ rel }: { rel: string }) => rel === 'next')?.href
    next = next?.slice(`${service.url}/v1/ogc`.length)
  }
  return all
}

test('pages that are shortened by their bytes have each feature once, in every form and order', async (t) => {
  const service = await openPolygons(t)
  const order = Array.from({ length: COUNT }, (_, i) => i)
  for (const query of [
    '',
    `&${MERCATOR}`,
    '&properties=i',
    '&f=jsonfg',
    '&filter=i>=0',
    '&bbox=-1,-1,179,1',
  ]) {
    const all = await readPages(service, items + query)
    assert.deepEqual(
      all.toSorted((a, b) => a - b),
      order,
      query,
    )
  }
  assert.deepEqual(await readPages(service, `${items}&sortby=-i&${MERCATOR}`), order.toReversed())
  const csv: string[] = []
  for (let next: string | undefined = `${items}&f=csv`; next !== undefined; ) {
    const response = await service.fetch(next)
    const rows = (await response.text()).trim().split('\r\n').slice(1)
    assert.equal(Number(response.headers.get('ogc-numberreturned')), rows.length)
    csv.push(...rows.map((row) => row.split(',')[0]!))
    const link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    next = link?.slice(`${service.url}/v1/ogc`.length)
  }
  assert.deepEqual(
    csv.map(Number).sort((a, b) => a - b),
    order,
  )
})

test('a page that takes too long to write ends early, without an ETag, and the next ones have the rest', async (t) => {
  const service = await openPolygons(t)
  Object.assign(service.parts.workload, { pageMs: 0 })
  const path = `${items}&filter=i<5&${MERCATOR}`
  const first = await service.fetch(path)
  assert.equal(first.headers.get('etag'), null)
  const body = (await first.json()) as { numberReturned: number; features: unknown[] }
  assert.equal(body.numberReturned, 1)
  assert.equal(body.features.length, 1)
  for (const query of ['', '&f=jsonfg']) {
    const numbers = numbersOf(await service.readAll(path + query))
    assert.deepEqual(numbers.sort(), [0, 1, 2, 3, 4])
  }
})

test('large pages wait for memory and get 503, small ones and those of others do not', async (t) => {
  const service = await openOgc(t)
  const { workload } = service.parts
  Object.assign(workload, { pageBytes: 16 << 20 })
  await service.publish('polygons', polygons())
  const signal = new AbortController().signal
  const holds = [
    await workload.pages.acquire('x', Infinity, signal),
    await workload.pages.acquire('y', Infinity, signal),
  ]
  const [large, small] = await Promise.all([
    service.fetch(`${items}&${MERCATOR}`),
    service.fetch(`/collections/polygons/items?limit=5&${MERCATOR}`),
  ])
  assert.equal(small.status, 200)
  assert.equal(large.status, 503)
  assert.ok(Number(large.headers.get('retry-after')) > 0)
  for (const hold of holds) hold.release()
  assert.equal((await service.get(`${items}&${MERCATOR}`)).status, 200)
  while (workload.pages.used > 0) await delay(5)
})

test('the work on a page ends when its client disconnects', async (t) => {
  const service = await openOgc(t)
  await service.publish('polygons', polygons())
  const { workload } = service.parts
  let written = 0
  const ended = Promise.withResolvers<void>()
  const begin = workload.begin.bind(workload)
  t.mock.method(workload, 'begin', (owner: string, disconnected?: () => AbortSignal) => {
    const work = begin(owner, disconnected)
    const end = work.end.bind(work)
    t.mock.method(work, 'end', () => {
      end()
      ended.resolve()
    })
    const each = work.each.bind(work)
    // Each feature takes a whole time slice.
    t.mock.method(work, 'each', (count: number, step: (i: number) => void, until?: number) =>
      each(
        count,
        (i) => {
          const sliceEnd = performance.now() + 6
          step(i)
          while (performance.now() < sliceEnd);
          written++
        },
        until,
      ),
    )
    return work
  })
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const path = `/v1/ogc${items}&${MERCATOR}`
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${service.key}\r\n\r\n`)
  while (written === 0) await delay(1)
  socket.destroy()
  // The memory is released at once, when the connection is closed; the work ends a little later.
  await ended.promise
  assert.equal(workload.pages.used, 0)
  assert.ok(written < COUNT / 2, `${written} features were written`)
})

test('work in time slices lets other owners run, and ends for a client that left', async () => {
  const order: string[] = []
  const run = (owner: string) =>
    new TimedWork({ owner, maxMs: 60_000 }).each(3, () => {
      const end = performance.now() + 6
      while (performance.now() < end);
      order.push(owner)
    })
  await Promise.all([run('a'), run('a'), run('a'), run('b')])
  assert.ok(order.lastIndexOf('b') < 10, `b was served at ${order.join('')}`)
  const client = new AbortController()
  client.abort()
  const left = new TimedWork({ owner: 'a', maxMs: 60_000, disconnected: () => client.signal })
  await assert.rejects(left.pause(), { name: 'AbortError' })
  const late = new TimedWork({ owner: 'a', maxMs: 0 })
  await assert.rejects(late.pause(), { code: 'invalid-filter' })
})
