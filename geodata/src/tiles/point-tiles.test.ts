import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { needs } from '../../../scripts/test-run/needs.ts'
import { collection, compileText, feature, scratch } from '../compile/compile-fixture.ts'
import { type DecodedArchive, decodeArchive } from './archive/test-archive.ts'
import { buildTiles } from './build/build-tiles.ts'
import { PointCells } from './encode/point-cells.ts'
import { EXTENT, worldX, worldY } from './web-mercator.ts'

needs('time')

let serial = 0

async function tilesOf(features: unknown[], maxZoom?: number): Promise<DecodedArchive> {
  const { folder } = await compileText(collection(features))
  const path = join(scratch, `points-${++serial}.pmtiles`)
  await buildTiles(folder, path, { table: 'points', maxZoom })
  return decodeArchive(path)
}

/** The number of features that a zoom's tiles show or count. */
function countAt({ features }: DecodedArchive, z: number): number {
  let count = 0
  for (const shown of features) if (shown.z === z) count += Number(shown.properties.point_count ?? 1)
  return count
}

const point = (coordinates: number[]) => ({ type: 'Point', coordinates })

function dense(count: number): number[][] {
  let seed = 5
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  return Array.from({ length: count }, () =>
    random() < 0.8 ? [13 + random(), 52 + random()] : [random() * 360 - 180, random() * 180 - 90],
  )
}

test('at every zoom the counts add up to the number of points, and the deepest zoom has every feature', async () => {
  const longitude = fc.oneof(fc.constantFrom(-180, 180, 0), fc.double({ min: -180, max: 180, noNaN: true }))
  const latitude = fc.oneof(fc.constantFrom(-90, 90, 0), fc.double({ min: -90, max: 90, noNaN: true }))
  const place = fc.oneof(fc.tuple(longitude, latitude), fc.constant<[number, number]>([8.5, 47.3]))
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 60 }), async (places) => {
      const features = places.map((at, i) => feature({ n: i }, point(at), i + 1))
      const archive = await tilesOf(features, 3)
      for (let z = 0; z <= archive.maxZoom; z++) assert.equal(countAt(archive, z), places.length)
      const deepest = archive.features.filter(({ z }) => z === archive.maxZoom)
      assert.deepEqual(deepest.map(({ id }) => id).sort(), places.map((_, i) => i + 1).sort())
    }),
    { numRuns: 12 },
  )
})

/** Points and multipoints, some with points in several tiles and some at one place. */
const scattered = (seed: number, count: number, maxPoints: number) => {
  let state = seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const place = () => [random() * 360 - 180, random() * 170 - 85]
  return Array.from({ length: count }, (_, i) => {
    const points = Array.from({ length: 1 + Math.floor(random() * maxPoints) }, place)
    const geometry = i % 3 === 0 ? point(points[0]!) : { type: 'MultiPoint', coordinates: points }
    return feature({ n: i }, geometry, i + 1)
  })
}

test('a multipoint with points in several tiles is counted once at every zoom', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 40 }), async (seed, count) => {
      const archive = await tilesOf(scattered(seed, count, 5), 3)
      for (let z = 0; z <= archive.maxZoom; z++) assert.equal(countAt(archive, z), count, `zoom ${z}`)
      const deepest = archive.features.filter(({ z }) => z === archive.maxZoom)
      assert.equal(new Set(deepest.map(({ id }) => id)).size, count)
    }),
    { numRuns: 8 },
  )
  // Enough features that tiles count them. All have their second point at one place, in a tile without a first point.
  const features = dense(3000).map(([longitude, latitude], i) => {
    const first = [-Math.abs(longitude!), latitude!]
    return feature({ n: i }, { type: 'MultiPoint', coordinates: [first, [100, 50]] }, i + 1)
  })
  const archive = await tilesOf(features, 2)
  for (let z = 0; z <= 2; z++) assert.equal(countAt(archive, z), features.length, `zoom ${z}`)
  const parts = archive.features.filter(({ z, properties }) => z === 1 && properties.point_count === 0)
  assert.deepEqual(
    parts.map(({ id }) => id),
    [undefined],
    'the place is shown as one point that counts nothing',
  )
})

test('dense cells become one point at the mean of their members; sums stay exact', async () => {
  const places = dense(6000)
  const archive = await tilesOf(
    places.map((at, i) => feature({ n: i, name: `place ${i}` }, point(at), i)),
    7,
  )
  assert.equal(archive.maxZoom, 7)
  for (let z = 0; z <= archive.maxZoom; z++) assert.equal(countAt(archive, z), places.length, `zoom ${z}`)
  const [content] = archive.metadata.contents
  assert.ok(content!.counted > 4000)
  assert.equal(content!.counted + content!.features, places.length)

  // Brute force: the members of each cell of the one tile of zoom 0.
  const cells = new Map<string, { count: number; x: number; y: number }>()
  for (const [longitude, latitude] of places) {
    const x = (worldX(longitude!) / 2 ** 32) * EXTENT
    const y = (worldY(latitude!) / 2 ** 32) * EXTENT
    const key = `${Math.min(63, Math.floor(x / 64))} ${Math.min(63, Math.floor(y / 64))}`
    const cell = cells.get(key) ?? { count: 0, x: 0, y: 0 }
    cells.set(key, { count: cell.count + 1, x: cell.x + x, y: cell.y + y })
  }
  const clusters = archive.features.filter(({ z, properties }) => z === 0 && 'point_count' in properties)
  const sums = [...cells.values()]
  for (const { properties, lists } of clusters) {
    const [x, y] = lists[0]![0]!
    const match = sums.some(
      (cell) =>
        cell.count === properties.point_count &&
        Math.abs(cell.x / cell.count - x) <= 1.1 &&
        Math.abs(cell.y / cell.count - y) <= 1.1,
    )
    assert.ok(match, `a cluster of ${properties.point_count} at ${x}, ${y}`)
  }
  assert.equal(new Set(clusters.map(({ lists }) => String(lists[0]))).size, clusters.length)
  const alone = sums.filter(({ count }) => count === 1).length
  assert.ok(alone > 600)
  assert.ok(
    clusters.every(({ properties }) => Number(properties.point_count) > 1),
    'a feature that is alone in its cell is shown with its values',
  )
})

test('a dense tile counts all of its features if those that are alone may not be read', () => {
  const places = dense(3000)
  const xs = Uint32Array.from(places, ([longitude]) => worldX(longitude!))
  const ys = Uint32Array.from(places, ([, latitude]) => worldY(latitude!))
  const order = Uint32Array.from(places, (_, i) => i)
  const shownIf = (mayRead: boolean) => {
    const set = { xs, ys, order, bytesOf: () => 100, mayRead: () => mayRead }
    return new PointCells().divide({ z: 0, x: 0, y: 0 }, set, 0, places.length, 800_000)
  }
  for (const mayRead of [true, false]) {
    const { points, clusters } = shownIf(mayRead)
    assert.equal(points.length > 300, mayRead)
    const counted = clusters.reduce((sum, value, i) => (i % 3 === 2 ? sum + value : sum), 0)
    assert.equal(points.length + counted, places.length)
  }
})

test('a tile of few large features shows as many as its size allows, and counts the others', async () => {
  let seed = 9
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const noise = () => Array.from({ length: 20 }, () => Math.floor(random() * 2 ** 32).toString(36)).join('')
  const places = Array.from({ length: 1500 }, (_, i) =>
    feature({ n: i, text: noise() + noise() }, point([random() * 300 - 150, random() * 120 - 60]), i + 1),
  )
  const archive = await tilesOf(places, 4)
  const [content] = archive.metadata.contents
  const [root] = archive.tiles
  assert.ok(root!.bytes <= 200_000 && root!.bytes > 50_000, `${root!.bytes} bytes`)
  assert.ok(content!.features > 500 && content!.counted > 0, JSON.stringify(content))
  for (let z = 0; z <= 4; z++) assert.equal(countAt(archive, z), places.length)
})

test('properties and ids arrive as they are in the features', async () => {
  const properties = {
    text: 'Zürich "Hb" \\ 東京\n',
    integer: -42,
    large: 9007199254740993n,
    number: 0.1,
    short: 1.5,
    yes: true,
    nothing: null,
    nested: { a: [1, 2] },
    date: '2024-02-29',
  }
  const text = JSON.stringify(feature(properties, point([8.5, 47.4])), (_, value) =>
    typeof value === 'bigint' ? `#${value}` : value,
  ).replace(/"#(\d+)"/, '$1')
  const { folder, features } = await compileText(`{"type":"FeatureCollection","features":[${text}]}`)
  const path = join(scratch, 'values.pmtiles')
  await buildTiles(folder, path, { table: 'values', title: 'Values' })
  const { features: shown, metadata, maxZoom } = await decodeArchive(path)
  assert.equal(shown.length, maxZoom + 1)
  assert.equal(shown[0]!.id, features[0]!.id)
  assert.deepEqual(shown[0]!.properties, {
    text: properties.text,
    integer: -42,
    large: Number(properties.large),
    number: 0.1,
    short: 1.5,
    yes: true,
    nested: '{"a":[1,2]}',
    date: '2024-02-29',
  })
  assert.equal(metadata.name, 'Values')
  assert.equal(metadata.vector_layers[0]!.fields.yes, 'Boolean')
})

test('an id that is text is a property, and a column named like ours keeps its name', async () => {
  const features = [feature({ id: 'other', point_count: 3 }, point([0, 0]), 'a/1')]
  const [shown] = (await tilesOf(features)).features
  assert.equal(shown!.id, undefined)
  assert.deepEqual(shown!.properties, { id: 'other', point_count: 3, feature_id: 'a/1' })
})

test('points without geometry are in no tile, and points at one place are all counted', async () => {
  const features = [
    feature({ n: 1 }),
    feature({ n: 2 }, { type: 'Point', coordinates: [] }),
    ...Array.from({ length: 3000 }, (_, i) => feature({ n: i + 3 }, point([7, 7, 100]))),
  ]
  const archive = await tilesOf(features, 5)
  for (let z = 0; z <= 5; z++) assert.equal(countAt(archive, z), 3000)
  assert.deepEqual(
    archive.features.filter(({ z }) => z === 0).map(({ properties }) => properties.point_count),
    [3000],
  )
  assert.equal(archive.features.filter(({ z }) => z === 5).length, 3000)
})

test('one multipoint among many points does not make them less precise', async () => {
  const places = dense(20_000).filter(([longitude]) => longitude! > 13 && longitude! < 14)
  const city = places.map((at, i) => feature({}, point(at), i + 1))
  const first = { type: 'MultiPoint', coordinates: [places[0]] }
  const archive = await tilesOf([feature({}, first, 1), ...city.slice(1)])
  const deepest = archive.features.filter(({ z }) => z === archive.maxZoom)
  const positions = new Set(deepest.map(({ x, y, lists }) => `${x}/${y}/${lists[0]![0]}`))
  const apart = new Set(places.map(String)).size
  assert.ok(positions.size > apart * 0.99, `${positions.size} of ${apart} at zoom ${archive.maxZoom}`)
})
