import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOgc } from '../testing/open-ogc.ts'
import { randomPlaces } from '../testing/random-places.ts'

test('a search takes its query from a body, and its next link leads through all pages', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', randomPlaces(300, 31, false))
  const search = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/v1/ogc/collections/places/search`, {
      method: 'POST',
      headers: { 'x-api-key': service.key, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  // A filter that does not fit in a URL.
  const ring = Array.from({ length: 3000 }, (_, i) => {
    const angle = (Math.min(i, 2999) / 2999) * 2 * Math.PI
    return i === 2999 ? [60, 0] : [60 * Math.cos(angle), 60 * Math.sin(angle)]
  })
  const filter = {
    op: 's_intersects',
    args: [{ property: 'geometry' }, { type: 'Polygon', coordinates: [ring] }],
  }
  const query = { filter, sortby: ['-i'], limit: 20, properties: ['i'], bbox: [-180, -90, 180, 90] }
  const found: number[] = []
  let body: object = query
  for (;;) {
    const response = await search(body)
    const { features, links, numberMatched } = (await response.json()) as {
      features: { properties: { i: number } }[]
      links: { rel: string; href: string; method?: string; body?: object; merge?: boolean }[]
      numberMatched: number
    }
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('etag'), null)
    found.push(...features.map(({ properties }) => properties.i))
    const next = links.find(({ rel }) => rel === 'next')
    if (!next) {
      assert.equal(numberMatched, found.length)
      break
    }
    assert.deepEqual([next.method, next.merge], ['POST', true])
    assert.equal(next.href, `${service.url}/v1/ogc/collections/places/search`)
    body = { ...query, ...next.body }
  }
  const places = await service.readAll('/collections/places/items?limit=10000')
  const expected = places
    .filter(({ geometry }) => geometry && Math.hypot(...(geometry.coordinates as [number, number])) < 60)
    .map(({ properties }) => properties.i)
  assert.ok(expected.length > 20)
  assert.deepEqual(
    found,
    expected.sort((a, b) => b - a),
  )

  const exact = '{"filter": {"op": "=", "args": [{"property": "big"}, 9007199254740995]}}'
  const big = (await (await search(exact)).json()) as { features: { properties: { i: number } }[] }
  const bigByUrl = await service.get('/collections/places/items?filter=big=9007199254740995')
  assert.equal(big.features.length, bigByUrl.body.numberMatched)

  const csv = await search({ limit: 2, f: 'csv' })
  assert.match(csv.headers.get('content-type')!, /^text\/csv/)
  const cursor = csv.headers.get('ogc-next-cursor')
  assert.equal((await search({ limit: 2, f: 'csv', cursor })).status, 200)

  const bad: [unknown, number][] = [
    ['{', 400],
    ['[]', 400],
    ['[[['.repeat(50_000), 400],
    [`{"ids":[${'9'.repeat(1000)}]}`, 400],
    [{ limit: [1] }, 400],
    [{ unknown: 1 }, 400],
    [{ filter: { op: 'none', args: [] } }, 400],
    [{ f: 'html' }, 400],
    [Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`a${i}`, 1])), 400],
    [{ ids: Array(100_000).fill(1) }, 400],
    [`{"ids":[${Array(11_000).fill('1234567890123456789').join()}]}`, 400],
    [{ filter: `name = '${'x'.repeat(250_000)}'` }, 200],
    [{ filter: 'x'.repeat(300_000) }, 413],
  ]
  for (const [given, status] of bad) assert.equal((await search(given)).status, status)
  assert.equal((await search({}, { 'x-api-key': '' })).status, 401)
  assert.equal((await search({}, { 'content-type': 'text/plain' })).status, 415)
})

test('filtered pages and hits have the number of all matches', async (t) => {
  const service = await openOgc(t)
  const places = randomPlaces(300, 33)
  await service.publish('places', places)
  const expected = places.filter(({ properties }) => properties.i % 3 === 0).length
  for (const query of [
    'filter=i % 3 = 0',
    'filter=i % 3 = 0&sortby=-size',
    'filter=i % 3 = 0&offset=50',
    'filter=(i % 3 = 0) AND (geometry IS NULL OR S_INTERSECTS(geometry, BBOX(-180,-90,180,90)))',
  ]) {
    const path = `/collections/places/items?limit=10&${query.replaceAll('%', '%25')}`
    const first = (await service.get(path)).body
    assert.deepEqual([first.numberMatched, first.numberReturned], [expected, 10], query)
    const next = first.links.find(({ rel }: { rel: string }) => rel === 'next').href
    const second = (await service.get(next.slice(`${service.url}/v1/ogc`.length))).body
    assert.equal(second.numberMatched, expected, `${query}, second page`)
    for (const name of ['resulttype', 'resultType']) {
      const { body } = await service.get(`${path}&${name}=hits`)
      assert.deepEqual([body.numberMatched, body.numberReturned, body.features], [expected, 0, []], query)
      assert.ok(!body.links.some(({ rel }: { rel: string }) => rel === 'next'))
    }
  }
  const all = await service.get('/collections/places/items?resulttype=hits')
  assert.equal(all.body.numberMatched, 300)
  const box = await service.get('/collections/places/items?bbox=-50,-50,50,50&limit=10000')
  const hits = await service.fetch('/collections/places/items?bbox=-50,-50,50,50&resulttype=hits&f=csv')
  assert.equal(hits.headers.get('ogc-numbermatched'), String(box.body.numberReturned))
  assert.equal((await service.get('/collections/places/items?resulttype=none')).status, 400)
})

interface Counted {
  numberMatched?: number
}

test('count says whether a page has the number of all matches', async (t) => {
  const service = await openOgc(t)
  const places = randomPlaces(300, 33)
  await service.publish('places', places)
  const matchedOf = async (query: string) =>
    (await service.get(`/collections/places/items?limit=10&${query.replaceAll('%', '%25')}`)).body
      .numberMatched
  const sizes = places.map(({ properties }) => properties.size)
  const cheap = 'filter=size > 2 AND (i < 200 OR open = TRUE)'
  const matches = places.filter(
    ({ properties: { i, size, open } }) => size !== null && size > 2 && (i < 200 || open === true),
  )
  assert.equal(await matchedOf(cheap), matches.length)
  assert.equal(await matchedOf(`${cheap}&count=none`), undefined)
  assert.deepEqual(await Promise.all(['', 'count=auto', 'count=none'].map(matchedOf)), [300, 300, undefined])
  // The database compares two columns: it is asked for the number only if that is requested.
  const expensive = 'filter=i > size * 20'
  const later = sizes.filter((size, i) => size !== null && i > size * 20).length
  assert.equal(await matchedOf(expensive), undefined)
  assert.equal(await matchedOf(`${expensive}&count=exact`), later)
  assert.equal(await matchedOf(expensive), later, 'it is remembered')
  assert.equal(await matchedOf(`${expensive}&count=none`), undefined)
  assert.equal(await matchedOf(`${expensive}&count=none&resulttype=hits`), later)
  const search = async (body: object) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }
    return (await (await service.fetch('/collections/places/search', init)).json()) as Counted
  }
  const filter = 'i > size * 30'
  assert.equal((await search({ filter, limit: 1 })).numberMatched, undefined)
  const found = sizes.filter((size, i) => size !== null && i > size * 30).length
  assert.equal((await search({ filter, limit: 1, count: 'exact' })).numberMatched, found)
  for (const path of ['items?count=all', 'facets?count=exact', 'extract?f=csv&count=none']) {
    assert.equal((await service.get(`/collections/places/${path}`)).status, 400, path)
  }
})

test('a dataset with a column named count can be filtered by it, and counted', async (t) => {
  const service = await openOgc(t)
  const rows = [5, 5, 7].map((count, id) => ({ type: 'Feature', id, properties: { count }, geometry: null }))
  await service.publish('counts', rows)
  const get = async (query: string) => (await service.get(`/collections/counts/items?${query}`)).body
  assert.equal((await get('count=5')).features.length, 2)
  assert.equal((await get('count=none')).numberMatched, undefined)
  assert.equal((await get('count=none')).features.length, 3)
  assert.equal((await service.get('/collections/counts/facets?count=7')).body.numberMatched, 1)
})

test('half of a surrogate pair in the body of a search is 400', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', randomPlaces(3, 1, false))
  for (const body of ['{"filter":"name = \'\\ud800\'"}', '{"name":"\\ud800"}', '{"\\udfff":"a"}']) {
    const response = await service.fetch('/collections/places/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    assert.equal(response.status, 400, body)
  }
})
