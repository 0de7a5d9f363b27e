import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Geometry, relates } from '@wayleave/geodata/geometry'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { type OgcService, openOgc } from '../testing/open-ogc.ts'
import { type Place, randomPlaces } from '../testing/random-places.ts'

const numbersOf = (features: { properties: { i: number } }[]) =>
  features.map(({ properties }) => properties.i)
const sorted = (all: number[]) => [...all].sort((a, b) => a - b)

/** Asserts that every limit gives the same features in the same order, each once. */
async function readInPages(service: OgcService, path: string, limits = [7]): Promise<number[]> {
  const join = path.includes('?') ? '&' : '?'
  const whole = await service.get(`${path}${join}limit=10000`)
  assert.equal(whole.status, 200, whole.text)
  const order = numbersOf(whole.body.features)
  assert.equal(whole.body.numberMatched, order.length)
  for (const limit of limits) {
    assert.deepEqual(
      numbersOf(await service.readAll(`${path}${join}limit=${limit}`)),
      order,
      `limit ${limit}`,
    )
  }
  for (const offset of [5, order.length]) {
    const rest = await service.get(`${path}${join}limit=10000&offset=${offset}`)
    assert.deepEqual(numbersOf(rest.body.features), order.slice(offset), `offset ${offset}`)
  }
  return order
}

/** The area or areas that a box stands for; they may degenerate to a line or a point. */
function areas(west: number, south: number, east: number, north: number): Geometry[] {
  if (west > east) return [...areas(west, south, 180, north), ...areas(-180, south, east, north)]
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  if (west === east && south === north) return [{ type: 'Point', coordinates: corners[0]! }]
  if (west === east || south === north)
    return [{ type: 'LineString', coordinates: [corners[0]!, corners[2]!] }]
  return [{ type: 'Polygon', coordinates: [corners] }]
}

/** Features without a geometry match every box. */
function inBox(places: Place[], bbox: string): number[] {
  const shapes = areas(...(bbox.split(',').map(Number) as [number, number, number, number]))
  const hits = places.filter(
    ({ geometry }) => geometry === null || shapes.some((area) => relates('intersects', geometry, area)),
  )
  return numbersOf(hits)
}

const BOXES = [
  '-10,-20,40,30',
  '170,-90,-170,90',
  '-180,-90,180,90',
  '5,5,5,5',
  '-30,10,60,10',
  '100,-50,101,-49',
]

test('a box selects by the geometry itself, in pages of any size, each feature once', async (t) => {
  const service = await openOgc(t)
  const shapes = randomPlaces(400, 7)
  const points = randomPlaces(400, 8, false)
  await service.publish('shapes', shapes)
  await service.publish('points', points)
  for (const [table, places] of [['shapes', shapes] as const, ['points', points] as const]) {
    for (const bbox of BOXES) {
      const order = await readInPages(service, `/collections/${table}/items?bbox=${bbox}`, [3, 100])
      assert.deepEqual(sorted(order), inBox(places, bbox), `${table} ${bbox}`)
      const isPlaceless = order.map((i) => places[i]!.geometry === null)
      assert.ok(isPlaceless.includes(true), 'features without a geometry match every box')
      assert.equal(isPlaceless.lastIndexOf(false) < isPlaceless.indexOf(true), true, 'and come last')
    }
    const all = await readInPages(service, `/collections/${table}/items`, [7, 100])
    assert.deepEqual(
      sorted(all),
      places.map((_, i) => i),
    )
  }
})

type Test = (properties: Place['properties'], geometry: Geometry | null) => boolean | null

const AREA: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [-60, -40],
      [70, -30],
      [20, 60],
      [-60, -40],
    ],
  ],
}
const WKT = 'POLYGON((-60 -40, 70 -30, 20 60, -60 -40))'
const touches: Test = (_, geometry) => geometry && relates('intersects', geometry, AREA)

/** Filters and their equivalents in plain JavaScript. */
const FILTERS: [string, Test][] = [
  ['size > 2.5', ({ size }) => size !== null && size > 2.5],
  ["name = 'Bay'", ({ name }) => name === 'Bay'],
  ["name = '''; DROP TABLE t; --'", ({ name }) => name === "'; DROP TABLE t; --"],
  ["CASEI(ACCENTI(name)) = CASEI(ACCENTI('ARMEL'))", ({ name }) => name === 'Ärmel' || name === 'armel'],
  ["name LIKE 'x\\_%'", ({ name }) => name === 'x_y'],
  ['big = 9007199254740995', ({ big }) => big === 9007199254740995n],
  ['open = true AND NOT (size < 1)', ({ open, size }) => open === true && size !== null && size >= 1],
  [
    "day BETWEEN DATE('2020-02-01') AND DATE('2020-04-30')",
    ({ day }) => day !== null && day >= '2020-02' && day < '2020-05',
  ],
  ["T_AFTER(at, TIMESTAMP('2021-05-01T04:00:00Z'))", ({ at }) => at !== null && at > '2021-05-01T04:00:00Z'],
  ['size IS NULL OR i IN (3, 5, 8)', ({ size, i }) => size === null || [3, 5, 8].includes(i)],
  [`S_INTERSECTS(geometry, ${WKT})`, touches],
  [`NOT S_INTERSECTS(geometry, ${WKT})`, (_, geometry) => geometry && !relates('intersects', geometry, AREA)],
  [`S_INTERSECTS(geometry, ${WKT}) AND size > 2`, (p, g) => touches(p, g) && p.size !== null && p.size > 2],
  [`S_INTERSECTS(geometry, ${WKT}) OR i < 20`, (p, g) => touches(p, g) || p.i < 20],
  ['i > 1000000', () => false],
]

test('filters select what they say, alone, in a box and in an order, in pages of any size', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openOgc(t)
  for (const [table, places] of [
    ['shapes', randomPlaces(300, 17)] as const,
    ['points', randomPlaces(300, 18, false)] as const,
  ]) {
    await service.publish(table, places)
    const box = '-90,-60,80,70'
    const inside = new Set(inBox(places, box))
    for (const [filter, holds] of FILTERS) {
      const expected = numbersOf(
        places.filter(({ properties, geometry }) => holds(properties, geometry) === true),
      )
      const path = `/collections/${table}/items?filter=${encodeURIComponent(filter)}`
      assert.deepEqual(sorted(await readInPages(service, path, [19])), expected, filter)
      const both = await readInPages(service, `${path}&bbox=${box}`, [11])
      assert.deepEqual(
        sorted(both),
        expected.filter((i) => inside.has(i)),
        `${filter} in a box`,
      )
      const descending = await readInPages(service, `${path}&sortby=-i`, [23])
      assert.deepEqual(descending, expected.toReversed(), `${filter} in order`)
    }
  }
})

test('features come in any order asked for, nulls last, in pages of any size', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openOgc(t)
  const places = randomPlaces(200, 27, false)
  await service.publish('points', places)
  const snapshot = numbersOf((await service.get('/collections/points/items?limit=1000')).body.features)
  type Name = keyof Place['properties']
  const orders: [string, [Name, number][]][] = [
    ['size', [['size', 1]]],
    ['-size', [['size', -1]]],
    ['name,-big', [['name', 1], ['big', -1]]], // biome-ignore format: pairs
    ['-open,day,%2Bat', [['open', -1], ['day', 1], ['at', 1]]], // biome-ignore format: pairs
    ['big', [['big', 1]]],
  ]
  const bytes = (value: unknown) => (typeof value === 'string' ? Buffer.from(value).toString('hex') : value)
  for (const [sortby, keys] of orders) {
    const expected = [...snapshot].sort((a, b) => {
      for (const [name, sign] of keys) {
        const [x, y] = [places[a]!.properties[name], places[b]!.properties[name]]
        if (x === y) continue
        if (x === null || y === null) return x === null ? 1 : -1
        return (bytes(x) as number) < (bytes(y) as number) ? -sign : sign
      }
      return snapshot.indexOf(a) - snapshot.indexOf(b)
    })
    assert.deepEqual(
      await readInPages(service, `/collections/points/items?sortby=${sortby}`, [5, 13]),
      expected,
      sortby,
    )
    const inside = new Set(inBox(places, '-100,-50,100,50'))
    const boxed = await readInPages(
      service,
      `/collections/points/items?sortby=${sortby}&bbox=-100,-50,100,50`,
      [9],
    )
    assert.deepEqual(
      boxed,
      expected.filter((i) => inside.has(i)),
      `${sortby} in a box`,
    )
  }
})
