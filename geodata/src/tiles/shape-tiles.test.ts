import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { collection, compileText, feature, scratch } from '../compile/compile-fixture.ts'
import { validGeometryArbitrary } from '../compile/valid-geometry-arbitrary.ts'
import { type DecodedFeature, decodeArchive } from './archive/test-archive.ts'
import { buildTiles } from './build/build-tiles.ts'
import { cleanPolygon } from './shapes/clean-polygon.ts'
import { type Rings, ringArea } from './shapes/rings.ts'
import { snapList } from './shapes/snap-list.ts'
import { areaOf, invalidPolygons, polygon, square, tilesOf } from './test-shapes.ts'
import { EXTENT, worldX, worldY } from './web-mercator.ts'

needs('time')

let serial = 0

test('random geometries of all types: every feature is at the deepest zoom, polygons are valid at all', {
  skip: lacks('python'),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(validGeometryArbitrary(), { minLength: 1, maxLength: 12 }),
      async (geometries) => {
        const features = geometries.map((geometry, i) => feature({ n: i }, geometry, i + 1))
        const { folder, manifest } = await compileText(collection(features))
        if (manifest.located === 0) return
        const path = join(scratch, `random-${++serial}.pmtiles`)
        const { maxZoom } = await buildTiles(folder, path, { table: 'random', maxZoom: 3 })
        const archive = await decodeArchive(path)
        const shown = new Set(archive.features.filter(({ z }) => z === maxZoom).map(({ id }) => id))
        const located = features.filter((_, i) => JSON.stringify(geometries[i]).match(/\d/))
        assert.equal(shown.size, manifest.located, `${shown.size} of ${located.length}`)
        assert.deepEqual(invalidPolygons(archive.features.filter(({ type }) => type === 3)), [])
      },
    ),
    { numRuns: 10 },
  )
})

test('rings that cross and touch after rounding become valid', { skip: lacks('python') }, () => {
  const coordinate = fc.integer({ min: 0, max: 24 })
  const ring = fc.array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 12 })
  const cleaned: DecodedFeature[] = []
  fc.assert(
    fc.property(fc.array(ring, { minLength: 1, maxLength: 3 }), (list) => {
      const rings: Rings = { xy: [], ends: [] }
      const grid = { left: 0, top: 0, unit: 1, step: 1 }
      for (const one of list) {
        const count = snapList(Float64Array.from(one.flat()), 0, one.length, grid, true, rings.xy)
        if (count > 0) rings.ends.push(rings.xy.length / 2)
      }
      const clean = cleanPolygon(
        rings,
        rings.ends.map(() => false),
      )
      let from = 0
      const lists = clean.ends.map((end) => {
        const positions: [number, number][] = []
        for (let i = from; i < end; i++) positions.push([clean.xy[i * 2]!, clean.xy[i * 2 + 1]!])
        from = end
        return [...positions, positions[0]!]
      })
      if (lists.length > 0) cleaned.push({ z: 0, x: 0, y: 0, id: 0, type: 3, properties: {}, lists })
    }),
    { numRuns: 200 },
  )
  assert.deepEqual(invalidPolygons(cleaned), [])
})

test('a polygon inside another one becomes part of it, one in a hole stays', () => {
  const square = (from: number, to: number) => [from, from, to, from, to, to, from, to]
  const squares = (...list: number[][]): Rings => ({ xy: list.flat(), ends: list.map((_, i) => (i + 1) * 4) })
  const outlines = (rings: Rings) => rings.ends.length
  assert.equal(outlines(cleanPolygon(squares(square(0, 20), square(5, 9)), [false, false])), 1)
  assert.equal(outlines(cleanPolygon(squares(square(5, 9), square(0, 20)), [false, false])), 1)
  const island = squares(square(0, 20), square(4, 12), square(6, 9))
  assert.equal(outlines(cleanPolygon(island, [false, true, false])), 3)
})

/** The area of rings in square tile units. */
function areaWithin({ xy, ends }: Rings): number {
  let area = 0
  ends.forEach((end, ring) => {
    area += ringArea(xy, ends[ring - 1] ?? 0, end) / 2
  })
  return area
}

test('a polygon inside one that is made anew becomes part of it, in whichever direction rings run', () => {
  // The outer ring comes back to its corner 20,20, so it is made anew; the square inside it is valid by itself.
  const outer = [0, 0, 20, 0, 20, 20, 30, 20, 30, 30, 20, 20, 0, 20]
  const inner = [5, 5, 9, 5, 9, 9, 5, 9]
  const backward = (ring: readonly number[]) =>
    ring.flatMap((_, i) => ring[ring.length - 2 - i + 2 * (i % 2)]!)
  for (const list of [
    [outer, inner],
    [backward(outer), backward(inner)],
  ])
    assert.equal(areaWithin(cleanPolygon({ xy: list.flat(), ends: [7, 11] }, [false, false])), 450)
})

test('a polygon that long, nearly parallel edges cross keeps its area', () => {
  const sliver = [4005, 2, 37, 8, 4001, 2, 43, 5]
  const large = [3000, -60, 4090, -60, 4090, 2000, 3000, 2000]
  const area = areaWithin(cleanPolygon({ xy: [...sliver, ...large], ends: [4, 8] }, [false, false]))
  assert.ok(area >= 1090 * 2060 && area < 1090 * 2060 + 4000 * 6, `${area}`)
})

test('neighbours share their border at every zoom: no gap and no overlap', async () => {
  // A wavy border between two countries, with far more detail than low zooms can show.
  const border = Array.from({ length: 2001 }, (_, i) => [
    10 + Math.sin(i / 7) * 0.8 + Math.sin(i * 1.7) * 0.05,
    -20 + i * 0.02,
  ])
  const west = [...border, [-10, 20], [-10, -20], border[0]!]
  const east = [[30, -20], [30, 20], ...[...border].reverse(), [30, -20]]
  const archive = await tilesOf([feature({ n: 1 }, polygon(west), 1), feature({ n: 2 }, polygon(east), 2)], 5)
  // Features of this size are held without their geometry from the second tile on.
  for (const { id, properties } of archive.features) assert.equal(properties.n, id)
  for (const { z, x, y } of archive.tiles) {
    const tile = archive.features.filter((one) => one.z === z && one.x === x && one.y === y)
    if (tile.length < 2) continue
    const edges = new Map<string, number>()
    for (const { lists } of tile)
      for (const list of lists)
        for (let i = 1; i < list.length; i++) {
          const key = [String(list[i - 1]), String(list[i])].sort().join(' ')
          edges.set(key, (edges.get(key) ?? 0) + 1)
        }
    // What the two do not share is the frame around both: its edges are straight along the tile or the data.
    const frame = [-10, 30].map((longitude) =>
      Math.round(((worldX(longitude) / 2 ** 32) * 2 ** z - x) * EXTENT),
    )
    const unshared = [...edges].filter(([, count]) => count === 1).map(([key]) => key)
    for (const key of unshared) {
      const [[ax, ay], [bx, by]] = key.split(' ').map((text) => text.split(',').map(Number)) as [
        number[],
        number[],
      ]
      const isVertical =
        ax === bx && (frame.some((at) => Math.abs(at - ax!) <= 2) || ax! <= -64 || ax! >= 4160)
      assert.ok(isVertical || ay === by, `${z}/${x}/${y}: ${key}`)
    }
  }
})

test('polygons smaller than a pixel are drawn with the same total area', async () => {
  const features = Array.from({ length: 2500 }, (_, i) =>
    feature({ n: i }, polygon(square((i % 50) * 0.4, Math.floor(i / 50) * 0.4, 0.1)), i + 1),
  )
  const archive = await tilesOf(features, 6)
  for (let z = 0; z <= 5; z++) {
    const drawn = archive.features.filter((one) => one.z === z)
    let area = 0
    for (const one of drawn) area += areaOf(one)
    let expected = 0
    for (let i = 0; i < 50; i++) {
      const [south, north] = [Math.floor(i) * 0.4, Math.floor(i) * 0.4 + 0.1]
      const height = worldY(south) - worldY(north)
      expected += (50 * (worldX(0.1) - worldX(0)) * height) / (2 ** (20 - z)) ** 2
    }
    // Polygons in the margin of a tile are drawn in both.
    assert.ok(area > expected * 0.9 && area < expected * 1.25, `zoom ${z}: ${area} of ${expected}`)
  }
  const [content] = archive.metadata.contents
  assert.ok(content!.merged > 2000)
  assert.equal(new Set(archive.features.filter(({ z }) => z === 6).map(({ id }) => id)).size, 2500)
})

test('a polygon over the whole world is a run of equal tiles, stored once', async () => {
  const world = polygon([
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
    [-180, -90],
  ])
  const archive = await tilesOf([feature({ name: 'world' }, world, 7)], 5)
  assert.equal(archive.tiles.length, 1 + 4 + 16 + 64 + 256 + 1024)
  for (const { z, x, y } of archive.tiles) {
    const [one, ...others] = archive.features.filter((each) => each.z === z && each.x === x && each.y === y)
    assert.equal(others.length, 0)
    assert.equal(one!.id, 7)
    assert.ok(areaOf(one!) >= EXTENT * EXTENT)
  }
})

const NAMES = `
import json, sys, pyogrio
frame = pyogrio.read_dataframe(sys.argv[1])
print(json.dumps(sorted(frame['name'].unique())))
`

/** The names of the features that GDAL finds in an archive. */
function namesByGdal(path: string): string[] {
  const text = execFileSync(process.env.WAYLEAVE_TEST_PYTHON!, ['-c', NAMES, path], { encoding: 'utf8' })
  return JSON.parse(text)
}

test('GDAL reads the archive', { skip: lacks('gdal') }, async () => {
  const { path } = await tilesOf(
    [
      feature({ name: 'a' }, polygon(square(5, 5, 3), square(6, 6, 1).reverse()), 1),
      feature(
        { name: 'b' },
        {
          type: 'LineString',
          coordinates: [
            [0, 0, 5],
            [20, 30, 6],
          ],
        },
        2,
      ),
      feature(
        { name: 'c' },
        { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
        3,
      ),
    ],
    4,
  )
  assert.deepEqual(namesByGdal(path), ['a', 'b', 'c'])
})

test('GDAL reads an archive of features at the poles, which tiles show at their edge', {
  skip: lacks('gdal'),
}, async () => {
  const places = [0, 90, -90].map((latitude) => ({ type: 'Point', coordinates: [8, latitude] }))
  const { path } = await tilesOf(
    places.map((place, i) => feature({ name: `place ${i}` }, place, i + 1)),
    2,
  )
  assert.deepEqual(namesByGdal(path).sort(), ['place 0', 'place 1', 'place 2'])
})
