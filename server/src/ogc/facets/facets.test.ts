import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Bbox,
  emptyBbox,
  type Geometry,
  geometryBbox,
  intersectsBbox,
  isEmptyBbox,
} from '@wayleave/geodata/geometry'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { openOgc } from '../testing/open-ogc.ts'
import { type Place, randomPlaces } from '../testing/random-places.ts'

type Properties = Place['properties']

/** The most frequent values of a property, counted one by one. */
function countsOf(places: Place[], name: keyof Properties): Map<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { properties } of places) counts.set(properties[name], (counts.get(properties[name]) ?? 0) + 1)
  return counts
}

/** The bounding box of places, from their source; null if none of them has a geometry. */
function extentOf(places: Place[]): Bbox | null {
  const extent = emptyBbox()
  for (const { geometry } of places) {
    if (!geometry) continue
    const [west, south, east, north] = geometryBbox(geometry)
    extent[0] = Math.min(extent[0], west)
    extent[1] = Math.min(extent[1], south)
    extent[2] = Math.max(extent[2], east)
    extent[3] = Math.max(extent[3], north)
  }
  return isEmptyBbox(extent) ? null : extent
}

/** Whether the geometry meets the box of the filters below, or does not; neither is true without a geometry. */
function meetsBox(geometry: Geometry | null, wanted = true): boolean {
  return geometry !== null && intersectsBbox(geometry, [-60, -40, 30, 50]) === wanted
}

/** The condition `i > size * 200`. */
function isLate({ properties: { i, size } }: Place): boolean {
  return size !== null && i > size * 200
}

test('facets count the values of the features that match, whatever selects them', {
  skip: lacks('time'),
}, async (t) => {
  const { publish, get } = await openOgc(t)
  const places = randomPlaces(3000, 5)
  await publish('places', places)
  const cases: [query: string, matches: (place: Place) => boolean][] = [
    ['', () => true],
    ['&filter=size%20%3E%202', ({ properties: { size } }) => size !== null && size > 2],
    [
      '&open=true&filter=size%20IS%20NULL',
      ({ properties: { size, open } }) => size === null && open === true,
    ],
    // The database compares two columns.
    ['&filter=i%20%3E%20size%20*%20200', isLate],
    ['&filter=i%20%25%2010%20%3D%203', ({ properties: { i } }) => i % 10 === 3],
    ['&filter=geometry%20IS%20NULL', ({ geometry }) => geometry === null],
    [
      '&filter=S_INTERSECTS(geometry,BBOX(-60,-40,30,50))%20AND%20size%20%3E%202',
      ({ geometry, properties: { size } }) => size !== null && size > 2 && meetsBox(geometry),
    ],
    ['&filter=NOT%20S_INTERSECTS(geometry,BBOX(-60,-40,30,50))', ({ geometry }) => meetsBox(geometry, false)],
    ['&filter=size%20%3E%20100', () => false],
  ]
  for (const [query, matches] of cases) {
    const { status, body } = await get(`/collections/places/facets?columns=name,open,i,day&bins=7${query}`)
    assert.equal(status, 200, query)
    const matching = places.filter(matches)
    assert.equal(body.numberMatched, matching.length, query)
    for (const name of ['name', 'open'] as const) {
      const expected = countsOf(matching, name)
      const { values, nulls, others } = body.facets[name]
      assert.equal(nulls, expected.get(null) ?? 0)
      assert.equal(others, 0)
      expected.delete(null)
      assert.deepEqual(
        new Map(values.map((each: { value: unknown; count: number }) => [each.value, each.count])),
        expected,
      )
      const counts = values.map(({ count }: { count: number }) => count)
      assert.deepEqual(
        counts,
        counts.toSorted((a: number, b: number) => b - a),
      )
    }
    const { histogram } = body.facets.i
    assert.equal(histogram.length, 7)
    for (const [bin, { from, to, count }] of histogram.entries()) {
      const isIn = (i: number) => i >= from && (i < to || (bin === 6 && i === to))
      assert.equal(count, matching.filter(({ properties: { i } }) => isIn(i)).length, `${query} ${from}`)
    }
    assert.deepEqual([histogram[0].from, histogram[6].to], [0, 2999])
    const days = body.facets.day.histogram.reduce(
      (sum: number, { count }: { count: number }) => sum + count,
      0,
    )
    assert.equal(days + body.facets.day.nulls, matching.length)
  }
})

test('the extent contains exactly the features that match, whatever selects them', async (t) => {
  const { publish, get } = await openOgc(t)
  const isNear = ({ geometry }: Place) => {
    const box = geometry && geometryBbox(geometry)
    return box !== null && box[0] > -20 && box[2] < 60 && box[1] > -10 && box[3] < 35
  }
  for (const [table, hasShapes] of [
    ['points', false],
    ['shapes', true],
  ] as const) {
    // More than a block of rows, of which some are near each other.
    const places = randomPlaces(5000, 6, hasShapes)
    for (const place of places) if (isNear(place)) place.properties.name = 'near'
    await publish(table, places)
    const cases: [query: string, matches: (place: Place) => boolean][] = [
      ['', () => true],
      // By compiled columns: scanned block by block, or from the list of a rare value's rows.
      ['&filter=name%3D%27near%27', ({ properties: { name } }) => name === 'near'],
      ['&filter=i%3D17', ({ properties: { i } }) => i === 17],
      ['&filter=i%20%3C%204900', ({ properties: { i } }) => i < 4900],
      ['&filter=S_INTERSECTS(geometry,BBOX(-60,-40,30,50))', ({ geometry }) => meetsBox(geometry)],
      // Features without a geometry match every box.
      ['&bbox=-60,-40,30,50', ({ geometry }) => geometry === null || meetsBox(geometry)],
      // By the database.
      [
        '&filter=i%20%3E%20size%20*%20200%20AND%20name%3D%27near%27',
        (place) => isLate(place) && place.properties.name === 'near',
      ],
      // No feature, and features that have no place.
      ['&filter=size%20%3E%20100', () => false],
      ['&filter=geometry%20IS%20NULL', ({ geometry }) => geometry === null],
    ]
    for (const [query, matches] of cases) {
      const { status, body } = await get(`/collections/${table}/facets?columns=open&extent=true${query}`)
      assert.equal(status, 200, query)
      const matching = places.filter(matches)
      assert.equal(body.numberMatched, matching.length, query)
      assert.deepEqual(body.extent, extentOf(matching), `${table} ${query}`)
    }
    const collection = (await get(`/collections/${table}`)).body
    const { body } = await get(`/collections/${table}/facets?columns=open&extent=true`)
    assert.deepEqual(body.extent, collection.extent.spatial.bbox[0])
  }
  for (const query of ['', '&extent=false']) {
    const { body } = await get(`/collections/points/facets?columns=open${query}`)
    assert.equal('extent' in body, false)
  }
})

test('the ends of a histogram beyond 2^53 are exact, and without columns all are counted', async (t) => {
  const { publish, get } = await openOgc(t)
  const places = randomPlaces(500, 5)
  await publish('places', places)
  const { text, body } = await get('/collections/places/facets?bins=3')
  const [largest] = places.map(({ properties }) => BigInt(properties.big)).sort((a, b) => Number(b - a))
  assert.ok(text.includes(`"to":${largest},"count":`))
  assert.deepEqual(Object.keys(body.facets), ['i', 'name', 'size', 'big', 'open', 'day', 'at'])
})

test('texts with too many different values are counted only if they are named, and once', async (t) => {
  const { publish, get, parts } = await openOgc(t)
  const texts = t.mock.method(parts.engine.duckdb, 'texts')
  const places = randomPlaces(330, 8).map((place, i) => ({
    ...place,
    properties: { ...place.properties, long: `${i % 300} ${'x'.repeat(30_000)}` },
  }))
  await publish('places', places)
  const { body } = await get('/collections/places/facets?filter=i%20%3C%20310')
  assert.deepEqual(Object.keys(body.facets), ['i', 'name', 'size', 'big', 'open', 'day', 'at'])
  assert.deepEqual(body.omitted, ['long'])
  assert.equal(texts.mock.callCount(), 0)
  for (const [filter, matched, most] of [
    ['', 330, 2],
    ['&filter=i%20%3C%20310', 310, 2],
    ['&filter=i%20%3C%20300', 300, 1],
  ] as const) {
    const query = `/collections/places/facets?columns=long,open&limit=5${filter}`
    const first = await get(query)
    assert.deepEqual([first.body.numberMatched, first.body.omitted], [matched, undefined])
    const { values, others } = first.body.facets.long
    assert.equal(values[0].count, most)
    const counted = values.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
    assert.equal(counted + others, matched)
    assert.deepEqual((await get(query)).body, first.body)
  }
  assert.equal(texts.mock.callCount(), 3)
})

test('facets need a key with the add-on, and refuse what they do not know', async (t) => {
  const { publish, get, request } = await openOgc(t)
  await publish('places', randomPlaces(50, 5))
  assert.equal((await request('GET', '/v1/ogc/collections/places/facets?columns=i')).status, 401)
  assert.equal((await get('/collections/nowhere/facets?columns=i')).status, 404)
  for (const query of [
    'columns=',
    'columns=unknown',
    'columns=i&limit=0',
    'columns=i&bins=x',
    'columns=i&extent=',
    'columns=i&extent=1',
    'columns=i&sortby=i',
    'columns=i&cursor=x',
    'columns=i&filter=unknown%3D1',
    'columns=i&unknown=1',
  ]) {
    assert.equal((await get(`/collections/places/facets?${query}`)).status, 400, query)
  }
  const first = await get('/collections/places/facets?columns=i')
  const tag = first.headers.get('etag')!
  const again = await get('/collections/places/facets?columns=i', { headers: { 'if-none-match': tag } })
  assert.equal(again.status, 304)
})

test('parameters that would select nothing are refused', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', randomPlaces(10, 3, false))
  for (const parameter of ['ids=1', 'resulttype=hits', 'resultType=hits', 'sortby=i', 'offset=1']) {
    const { status, text } = await service.get(`/collections/places/facets?columns=i&${parameter}`)
    assert.equal(status, 400, `${parameter}: ${text}`)
  }
})

test('the ends of intervals are numbers, however far apart', async (t) => {
  const service = await openOgc(t)
  const values = [-1.7e308, -3, 2.5, 1e300, 1.7e308]
  await service.publish(
    'wide',
    values.map((v, i) => ({ type: 'Feature', id: i, properties: { v }, geometry: null })),
  )
  const { body } = await service.get('/collections/wide/facets?columns=v&bins=3&limit=1')
  const { histogram } = body.facets.v
  assert.equal(histogram.length, 3)
  assert.equal(histogram[0].from, -1.7e308)
  assert.equal(histogram[2].to, 1.7e308)
  for (const { from, to } of histogram) assert.ok(from < to, `${from} to ${to}`)
  assert.deepEqual(
    histogram.map(({ count }: { count: number }) => count),
    [1, 3, 1],
  )
})
