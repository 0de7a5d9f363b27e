import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOgc } from '../testing/open-ogc.ts'

const NASTY = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;`

test('pages for people escape whatever they show and run nothing but our own script', async (t) => {
  const service = await openOgc(t)
  const properties = { [NASTY]: NASTY, nested: { [NASTY]: [NASTY] } }
  const shape = {
    type: 'Polygon',
    coordinates: [
      [
        [1, 2],
        [3, 2],
        [3, 4],
        [1, 2],
      ],
    ],
  }
  const features = [
    { type: 'Feature', id: NASTY, geometry: { type: 'Point', coordinates: [1, 2] }, properties },
    { type: 'Feature', id: 'b', geometry: shape, properties },
    { type: 'Feature', id: 'c', geometry: null, properties },
  ]
  const description = {
    title: NASTY,
    description: NASTY,
    attribution: NASTY,
    license: NASTY,
    keywords: [NASTY],
  }
  await service.publish('nasty', features, { description })
  const given = encodeURIComponent(NASTY)
  const paths = [
    '',
    '/api',
    '/conformance',
    '/collections',
    '/collections/nasty',
    '/collections/nasty/schema',
    '/collections/nasty/queryables',
    '/collections/nasty/sortables',
    '/collections/nasty/items',
    `/collections/nasty/items?${given}=${given}`,
    `/collections/nasty/items/${given}`,
  ]
  for (const path of paths) {
    const answer = await service.fetch(`${path}${path.includes('?') ? '&' : '?'}f=html`)
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers.get('content-security-policy')!, /^default-src 'none'/)
    const text = await answer.text()
    const assets = `${service.url}/docs/assets`
    const rest = text
      .replace(`<script src="${assets}/theme.js"></script>`, '')
      .replace(`<script type="module" src="${assets}/account.js"></script>`, '')
      .replace(`<img src="${assets}/icon.svg"`, '')
      .replace(`<img src="${service.url}/v1/dataset/nasty/thumbnail.svg"`, '')
    assert.ok(!/<script|<img|onerror=(?!alert\(2\)&gt;)|javascript:|\sstyle=/i.test(rest), path)
    assert.ok(!text.includes(NASTY), path)
    for (const [, href] of text.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
      const isOurs =
        href!.startsWith(`${service.url}/`) || /^(#content|\/docs|\/docs\/api|\/status|\?.*)$/.test(href!)
      assert.ok(isOurs, `${path} leads to ${href}`)
    }
    if (path.startsWith('/collections/nasty')) assert.ok(text.includes('&lt;script&gt;'), path)
  }
})

test('the page of features has a map, a table and the way on', async (t) => {
  const service = await openOgc(t)
  const features = Array.from({ length: 5 }, (_, i) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [i * 10, i * 5] },
    properties: { name: `Place ${i}`, day: `2020-01-0${i + 1}` },
  }))
  await service.publish('places', features)
  const text = await (await service.fetch('/collections/places/items?f=html&limit=2&bbox=&filter=')).text()
  assert.match(text, /<svg class="map"/)
  // The coasts are too coarse for a map of two places that are close to each other.
  assert.doesNotMatch(text, /<image/)
  const whole = await (await service.fetch('/collections/places/items?f=html')).text()
  const picture = await fetch(/<image href="([^"]+land\.svg)"/.exec(whole)![1]!)
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/svg+xml'])
  // A single place has the land around it.
  const single = await (await service.fetch('/collections/places/items?f=html&bbox=39,19,41,21')).text()
  assert.match(single, /<image/)
  assert.match(text, /name="bbox"/)
  assert.match(text, /name="datetime" value="" placeholder="2020-01-01\/2020-01-05"/)
  assert.equal(text.match(/<tr>/g)!.length, 3)
  const next = /rel="next" href="([^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&')
  const second = await (await fetch(next, { headers: { 'x-api-key': service.key } })).text()
  assert.match(second, /href="[^"]+\/items\?f=html&amp;limit=2">First page/)
  assert.notEqual(/Place \d/.exec(second)![0], /Place \d/.exec(text)![0])
  const asked = await service.fetch('/collections/places/items?f=html&bbox=&datetime=2020-01-02%2F..&filter=')
  const later = await asked.text()
  assert.match(later, /4 of 4 features/)
  assert.match(later, /name="datetime" value="2020-01-02\/\.\."/)
  const refused = await fetch(`${service.url}/v1/ogc/collections?f=html`, {
    headers: { accept: 'text/html' },
  })
  assert.match(await refused.text(), /Send it in the header <code>X-API-Key<\/code>/)
  const api = await (await service.fetch('/api?f=html')).text()
  assert.match(api, /without it, <code>Accept<\/code> decides/)
})

test('numbers stand at the right, rows are sorted at the heads and filtered by their values, and the form keeps what it has no field for', async (t) => {
  const service = await openOgc(t)
  const features = Array.from({ length: 8 }, (_, i) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [i, i] },
    properties: { kind: i < 4 ? 'a & b' : 'c', 'height, in m': i, nested: { i } },
  }))
  await service.publish('places', features)
  const page = async (query: string) =>
    (await (await service.fetch(`/collections/places/items${query}`)).text()).replaceAll('&amp;', '&')
  const follow = (text: string, link: RegExp) => page(link.exec(text)![1]!)

  const text = await page('?f=html&limit=3')
  assert.match(text, /<div class="split"><svg class="map"/, 'map and rows at once')
  const up = await follow(
    text,
    /<th scope="col" class="number"><a href="([^"]+)" title="Sort by height, in m"/,
  )
  assert.match(up, /aria-sort="ascending"><a [^>]+>height, in m ↑/)
  const down = await follow(up, /aria-sort="ascending"><a href="([^"]+)"/)
  assert.match(down, /<td><a class="value"[^>]+>c<\/a><\/td><td class="number">7<\/td>/)
  const unsorted = await follow(down, /aria-sort="descending"><a href="([^"]+)"/)
  assert.doesNotMatch(unsorted, /aria-sort/)
  assert.doesNotMatch(text, /Sort by nested"/, 'nested values have no order')

  const only = await follow(text, /<a class="value" href="([^"]+)">a & b</)
  assert.match(only, /3 of 4 features/)
  assert.match(only, /<input type="hidden" name="kind" value="a & b">/)
  assert.match(only, /<input type="hidden" name="limit" value="3">/)
  const later = await page(/<a class="button" rel="next" href="[^"]+items([^"]+)"/.exec(only)![1]!)
  assert.match(later, /1 of 4 features/)
  const all = await follow(later, /<a class="chip" href="([^"]+)" aria-label="Remove kind: a & b"/)
  assert.match(all, /3 of 8 features/)
  assert.doesNotMatch(text, /class="value"[^>]+>0</, 'values that do not repeat lead nowhere')
})

test('a record and a feature are told in words: the license, the extent, units and links', async (t) => {
  const service = await openOgc(t)
  const properties = { depth: 10, page: 'https://example.org/quake?id=1&x=2', empty: null }
  const features = [
    { type: 'Feature', id: 'q1', geometry: { type: 'Point', coordinates: [-10.5, 20] }, properties },
    { type: 'Feature', id: 'q2', geometry: { type: 'Point', coordinates: [30, 40.25] }, properties },
  ]
  const columnNotes = { depth: { unit: 'km' } }
  await service.publish('quakes', features, { description: { license: 'Public domain', columnNotes } })
  const records = async (path: string) =>
    (await fetch(`${service.url}/v1/records/collections/datasets${path}`)).text()

  const record = await records('/items/quakes?f=html')
  assert.match(record, /<dt>License<\/dt><dd>Public domain<\/dd>/)
  assert.match(record, /<dt>Extent<\/dt><dd>10\.5° west to 30° east, 20° north to 40\.25° north<\/dd>/)
  assert.match(await records('?f=html'), /<dt>Extent<\/dt><dd>10\.5° west to 30° east/)
  const list = await records('/items?f=html')
  assert.match(list, /<p class="soft">\d+ \w+ \d{4}<\/p>/)
  const [, picture] = /<img src="([^"]+)"/.exec(list)!
  const drawn = await fetch(picture!)
  assert.deepEqual([drawn.status, drawn.headers.get('content-type')], [200, 'image/svg+xml'])
  const none = await records('/items?f=html&q=volcano')
  assert.match(none, /No record matches\. <a href="[^"]+\/items\?f=html">Show all records/)

  const feature = await (await service.fetch('/collections/quakes/items/q1?f=html')).text()
  assert.match(feature, /<dt>depth<\/dt><dd>10 km<\/dd>/)
  assert.match(feature, /<a href="https:\/\/example\.org\/quake\?id=1&amp;x=2" rel="nofollow noreferrer">/)
})
