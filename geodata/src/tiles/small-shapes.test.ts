import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { collection, compileText, feature } from '../compile/compile-fixture.ts'
import { readIndex } from '../snapshot/index-file.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { LocalFile } from '../snapshot/sync-file.ts'
import { type DecodedArchive, type DecodedFeature, decodeTile } from './archive/test-archive.ts'
import { PackFile, packOffsets } from './encode/feature-bytes.ts'
import { ShapeReader } from './encode/read-shapes.ts'
import { TileEncoder } from './encode/tile-encoder.ts'
import { areaOf, invalidPolygons, polygon, square, tilesOf } from './test-shapes.ts'
import { EXTENT, unitSize, worldX, worldY } from './web-mercator.ts'

needs('time')

type Rings = number[][][]

const multipolygon = (parts: Rings[]) => ({ type: 'MultiPolygon', coordinates: parts })
const line = (...positions: number[][]) => ({ type: 'LineString', coordinates: positions })

/** The area of squares in degrees, in square tile units of a zoom. */
function areaAt(z: number, squares: number[][][]): number {
  let area = 0
  for (const [southWest, , northEast] of squares) {
    const [west, south, east, north] = [...southWest!, ...northEast!] as [number, number, number, number]
    area += (worldX(east) - worldX(west)) * (worldY(south) - worldY(north))
  }
  return area / unitSize(z) ** 2
}

const at = ({ features }: DecodedArchive, zoom: number) => features.filter(({ z }) => z === zoom)

function drawnArea(features: readonly DecodedFeature[]): number {
  return features.reduce((area, one) => area + areaOf(one), 0)
}

/** Squares of 0.01° in rows of 50, 0.1° apart. */
function islets(count: number, west: number, south: number): number[][][] {
  return Array.from({ length: count }, (_, i) =>
    square(west + (i % 50) * 0.1, south + Math.floor(i / 50) * 0.1, 0.01),
  )
}

test('a tile inside a hole, or between the arms of a spiral, has nothing of the polygon', async () => {
  const ring = polygon(square(0, 0, 40), square(5, 5, 30).reverse())
  // Two turns around 70..80, 0..10, with nothing in the middle.
  const spiral = polygon([
    [60, -10],
    [90, -10],
    [90, 20],
    [60, 20],
    [60, -6],
    [86, -6],
    [86, 16],
    [64, 16],
    [64, -2],
    [65, -2],
    [65, 15],
    [85, 15],
    [85, -5],
    [61, -5],
    [61, 19],
    [89, 19],
    [89, -9],
    [60, -9],
    [60, -10],
  ])
  const archive = await tilesOf([feature({}, ring, 1), feature({}, spiral, 2)], 7)
  const isInside = ({ z, x, y }: { z: number; x: number; y: number }, box: number[]) => {
    const tile = [x, x + 1].map((edge) => (edge / 2 ** z) * 360 - 180)
    const [top, bottom] = [y, y + 1].map((edge) => (edge / 2 ** z) * 2 ** 32)
    const [west, south, east, north] = box as [number, number, number, number]
    // A degree off the border, so that the tile's margin does not reach it.
    const isBetween = tile[0]! > west + 1 && tile[1]! < east - 1
    return isBetween && top! > worldY(north - 1) && bottom! < worldY(south + 1)
  }
  const inHole = archive.tiles.filter((tile) => isInside(tile, [5, 5, 35, 35]))
  const inSpiral = archive.tiles.filter((tile) => isInside(tile, [65, -2, 85, 15]))
  assert.deepEqual(inHole, [])
  assert.deepEqual(inSpiral, [])
  for (let z = 0; z <= 7; z++) {
    const expected = areaAt(z, [square(0, 0, 40)]) - areaAt(z, [square(5, 5, 30)])
    const area = drawnArea(at(archive, z).filter(({ id }) => id === 1))
    // The polygon begins where four tiles meet, and margins are drawn in each.
    assert.ok(area > expected * 0.95 && area < expected * 1.4, `zoom ${z}: ${area} of ${expected}`)
  }
})

test("features on the world's last edges are in the last tiles", async () => {
  const features = [
    polygon(square(10, -89, 2)),
    polygon(square(10, 87, 2)),
    line([0, -86], [0, -89]),
    line([180, 10], [180, 10.0000001]),
    polygon([
      [180, 20],
      [180, 21],
      [180, 20.5],
      [180, 20],
    ]),
  ]
  const archive = await tilesOf(
    features.map((geometry, i) => feature({}, geometry, i + 1)),
    4,
  )
  assert.deepEqual(new Set(at(archive, 4).map(({ id }) => id)), new Set([1, 2, 3, 4, 5]))
})

test('small parts of one feature are drawn where they are, and not for others', {
  skip: lacks('python'),
}, async () => {
  const many = islets(2500, 0, 0)
  const tiny = Array.from({ length: 500 }, (_, i) => square(-120 - (i % 25) * 0.1, 40 + i * 0.01, 0.00001))
  const features = [multipolygon(many.map((ring) => [ring])), ...tiny.map((ring) => polygon(ring))]
  const archive = await tilesOf(
    features.map((geometry, i) => feature({}, geometry, i + 1)),
    9,
  )
  for (let z = 4; z <= 8; z++) {
    const drawn = at(archive, z).filter(({ id }) => id === 1)
    const [area, expected] = [drawnArea(drawn), areaAt(z, many)]
    assert.ok(area > expected * 0.85 && area < expected * 1.25, `zoom ${z}: ${area} of ${expected}`)
    const others = drawnArea(at(archive, z).filter(({ id }) => id !== 1))
    // At most what one pixel of the first feature leaves over, and a unit for the rest of each tile.
    assert.ok(others <= 64 + 2 * areaAt(z, tiny) + 40, `zoom ${z}: the others have ${others}`)
  }
  assert.deepEqual(invalidPolygons(archive.features), [])
})

test('small islands of a drawn feature are part of it', { skip: lacks('python') }, async () => {
  const many = islets(1500, 10, 0)
  const coast = multipolygon([[square(0, 0, 8)], ...many.map((ring) => [ring])])
  const archive = await tilesOf([feature({}, coast, 1)], 9)
  for (let z = 3; z <= 8; z++) {
    const drawn = at(archive, z)
    const [area, expected] = [drawnArea(drawn), areaAt(z, [square(0, 0, 8), ...many])]
    assert.ok(area > expected * 0.9 && area < expected * 1.2, `zoom ${z}: ${area} of ${expected}`)
    const tiles = new Set(drawn.map(({ x, y }) => `${x}/${y}`))
    assert.equal(drawn.length, tiles.size, 'the feature is in each tile once')
  }
  assert.deepEqual(invalidPolygons(archive.features), [])
})

test('holes that are too small make no other feature smaller', async () => {
  const holes = islets(2500, 1, 1).map((ring) => ring.toReversed())
  const others = islets(1000, 40, 0)
  const geometries = [polygon(square(0, 0, 10), ...holes), ...others.map((ring) => polygon(ring))]
  const features = geometries.map((geometry, i) => feature({}, geometry, i + 1))
  const archive = await tilesOf(features, 9)
  for (let z = 3; z <= 7; z++) {
    const area = drawnArea(at(archive, z).filter(({ id }) => id !== 1))
    const expected = areaAt(z, others)
    assert.ok(area > expected * 0.85 - 64 && area < expected * 1.25 + 64, `zoom ${z}: ${area} of ${expected}`)
  }
})

function lengthOf(lists: readonly [number, number][][]): number {
  let length = 0
  for (const list of lists) {
    for (const [i, [x, y]] of list.entries())
      if (i > 0) length += Math.hypot(x - list[i - 1]![0], y - list[i - 1]![1])
  }
  return length
}

test('a line that turns within a pixel does not lengthen others', async () => {
  const zigzag = line(...Array.from({ length: 4000 }, (_, i) => [-170 + (i % 2) * 0.05, -60 + i * 0.00001]))
  const short = Array.from({ length: 1000 }, (_, i) =>
    line([-60 - (i % 40) * 0.1, i * 0.01], [-60 - (i % 40) * 0.1, i * 0.01 + 0.0001]),
  )
  const archive = await tilesOf(
    [zigzag, ...short].map((geometry, i) => feature({}, geometry, i + 1)),
    8,
  )
  for (let z = 0; z <= 3; z++) {
    const others = at(archive, z).filter(({ id }) => id !== 1)
    const length = others.reduce((sum, { lists }) => sum + lengthOf(lists), 0)
    const expected = (1000 * (worldX(0.0001) - worldX(0))) / unitSize(z)
    assert.ok(length < expected * 1.5 + 20, `zoom ${z}: ${length} of ${expected}`)
    const counted = at(archive, z).reduce(
      (sum, { properties }) => sum + Number(properties.feature_count ?? 1),
      0,
    )
    assert.ok(counted >= 1001, `zoom ${z} stands for ${counted} features`)
  }
})

test('lines that are counted in points are counted in one tile of a zoom', async () => {
  const lines = Array.from({ length: 60 }, (_, i) =>
    feature({}, line([i - 50, i % 7], [i - 20, 40], [60, i], [i + 60, -60]), i + 1),
  )
  const { folder, manifest } = await compileText(collection(lines))
  const index = await readIndex(folder, manifest.files[SNAPSHOT_FILES.index]!, undefined)
  const pack = new PackFile(new LocalFile(folder, SNAPSHOT_FILES.pack), packOffsets(index.offsets))
  const encoder = new TileEncoder('lines', manifest.columns, pack, () => 0)
  const reader = new ShapeReader(pack)
  const positions = lines.map((_, position) => position)
  try {
    for (let z = 0; z <= 3; z++) {
      let counted = 0
      for (let x = 0; x < 2 ** z; x++) {
        for (let y = 0; y < 2 ** z; y++) {
          const tile = { z, x, y }
          let encoded = encoder.shapes(tile, () => [...reader.inTile(positions, tile)], false)
          while (encoded.coarser) encoded = encoded.coarser()
          for (const { type, properties } of decodeTile(encoded.bytes, z, x, y)) {
            assert.equal(type, 1)
            counted += Number(properties.point_count ?? 1)
          }
        }
      }
      assert.equal(counted, lines.length, `zoom ${z}`)
    }
  } finally {
    pack.close()
  }
})

test('a thin polygon is drawn along itself', async () => {
  const width = 0.0001
  const corner = polygon([
    [0, 0],
    [30, 0],
    [30, width],
    [width, width],
    [width, 30],
    [0, 30],
    [0, 0],
  ])
  const archive = await tilesOf([feature({}, corner, 1)], 8)
  for (let z = 0; z <= 8; z++) {
    const drawn = at(archive, z)
    assert.ok(drawn.length > 0, `zoom ${z} has nothing`)
    for (const { x, y, lists } of drawn) {
      for (const list of lists) {
        const middle = [0, 1].map((axis) => (list[0]![axis]! + list[2]![axis]!) / 2) as [number, number]
        assert.ok(
          middle.every((one) => one >= 0 && one <= EXTENT),
          `${z}/${x}/${y}: in the margin at ${middle}`,
        )
        const [worldAtX, worldAtY] = [x * EXTENT + middle[0], y * EXTENT + middle[1]]
        const [fromX, fromY] = [worldAtX - worldX(0) / unitSize(z), worldAtY - worldY(0) / unitSize(z)]
        assert.ok(
          Math.min(Math.abs(fromX), Math.abs(fromY)) <= 1,
          `${z}/${x}/${y}: off by ${fromX}, ${fromY}`,
        )
      }
    }
  }
})
