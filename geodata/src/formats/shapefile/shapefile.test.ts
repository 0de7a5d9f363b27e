import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { feature as topojsonFeature } from 'topojson-client'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { crsCode } from '../../crs.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  ogr2ogr,
  scratch,
  written,
} from '../reading.test-kit.ts'
import { groupRings } from './rings.ts'
import { dbf, feature, read, refusal, shapefile } from './shapefile.test-kit.ts'

needs('gdal')

const require = createRequire(import.meta.url)
const REAL = '/usr/lib/R/site-library/sf/shape'
const POINT = { type: 'Point', coordinates: [1, 2] }

test('real shapefiles with and without Z and M say the same as GDAL reads from them', async () => {
  for (const name of readdirSync(REAL).filter((each) => each.endsWith('.shp'))) {
    const path = join(REAL, name)
    const { features, rows, unreadable, stream } = await read(path)
    const theirs = gdalFeatures(path)
    assert.deepEqual(unreadable, [], name)
    assertSameGeometries(features, theirs)
    assertSameRows(rows, theirs)
    assert.equal(stream.bytesRead, stream.totalBytes)
  }
  const { stream } = await read(join(REAL, 'nc.shp'))
  assert.equal(crsCode(stream.crs!), 'EPSG:4267')
  assert.equal((await read(join(REAL, 'storms_xyz.shp'))).stream.crs, null)
})

interface World {
  features: { properties: { name: string } }[]
}

test('the countries of the world keep their islands, holes and names', async (t) => {
  const topology = JSON.parse(readFileSync(require.resolve('world-atlas/countries-50m.json'), 'utf8'))
  const world = topojsonFeature(topology, topology.objects.countries) as unknown as World
  // In this source Russia's main ring spans the globe and intersects itself, so there is no correct result.
  const countries = world.features.filter(({ properties }) => properties.name !== 'Russia')
  const path = shapefile(scratch(t), countries, '-lco', 'ENCODING=UTF-8')
  const { features, rows } = await read(path)
  const theirs = gdalFeatures(path)
  assertSameGeometries(features, theirs)
  assertSameRows(rows, theirs)
  const holes = features.filter(
    ({ geometry }) => geometry?.type === 'Polygon' && geometry.coordinates.length > 1,
  )
  assert.ok(holes.length > 0, 'a country around another has a hole')
})

test('every kind of shape is read: lines, points, with Z and M, missing ones', async (t) => {
  const folder = scratch(t)
  const kinds: [string, object][] = [
    ['POINT', POINT],
    ['POINTZ', { type: 'Point', coordinates: [1, 2, 3] }],
    ['POINTM', POINT],
    [
      'MULTIPOINT',
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    [
      'MULTIPOINTZ',
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2, 5],
          [3, 4, 6],
        ],
      },
    ],
    [
      'LINESTRING',
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    [
      'LINESTRINGZ',
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 2, 5],
            [3, 4, 6],
          ],
          [
            [0, 0, 7],
            [1, 1, 8],
          ],
        ],
      },
    ],
    [
      'POLYGONZ',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0, 1],
            [0, 1, 2],
            [1, 1, 3],
            [0, 0, 1],
          ],
        ],
      },
    ],
  ]
  for (const [i, [kind, geometry]] of kinds.entries()) {
    const path = join(folder, `kind${i}.shp`)
    const source = join(folder, `kind${i}.geojson`)
    writeFileSync(
      source,
      JSON.stringify({
        type: 'FeatureCollection',
        features: [feature({ a: 1 }, geometry), feature({ a: 2 }, null)],
      }),
    )
    ogr2ogr('-f', 'ESRI Shapefile', path, source, '-lco', `SHPT=${kind.replace('LINESTRING', 'ARC')}`)
    const { features } = await read(path)
    assert.deepEqual(
      features.map(({ geometry }) => geometry),
      [geometry, null],
      kind,
    )
  }
})

/** A multipatch with a triangle strip, a fan, an outer ring with its hole, and a ring of unknown kind. */
function multipatch(kinds: number[]): Buffer {
  const [strip, fan, outer, inner, ring] = [
    [
      [0, 0, 1],
      [0, 1, 2],
      [1, 0, 3],
      [1, 1, 4],
    ],
    [
      [5, 5, 0],
      [6, 5, 0],
      [6, 6, 0],
      [5, 6, 0],
    ],
    [
      [10, 10, 0],
      [10, 20, 0],
      [20, 20, 0],
      [20, 10, 0],
      [10, 10, 0],
    ],
    [
      [12, 12, 0],
      [13, 12, 0],
      [13, 13, 0],
      [12, 12, 0],
    ],
    [
      [30, 30, 0],
      [30, 31, 9],
      [31, 31, 9],
      [30, 30, 0],
    ],
  ] as number[][][]
  const parts = [strip!, fan!, outer!, inner!, ring!]
  const points = parts.flat()
  const bytes = Buffer.alloc(44 + parts.length * 8 + points.length * 24 + 16)
  bytes.writeInt32LE(31, 0)
  bytes.writeInt32LE(parts.length, 36)
  bytes.writeInt32LE(points.length, 40)
  let first = 0
  for (const [i, part] of parts.entries()) {
    bytes.writeInt32LE(first, 44 + i * 4)
    bytes.writeInt32LE(kinds[i]!, 44 + (parts.length + i) * 4)
    first += part.length
  }
  const at = 44 + parts.length * 8
  for (const [i, [x, y, z]] of points.entries()) {
    bytes.writeDoubleLE(x!, at + i * 16)
    bytes.writeDoubleLE(y!, at + i * 16 + 8)
    bytes.writeDoubleLE(z!, at + points.length * 16 + 16 + i * 8)
  }
  return bytes
}

function shpOf(content: Buffer): Buffer {
  const head = Buffer.alloc(108)
  head.writeInt32BE(9994, 0)
  head.writeInt32BE((108 + content.length) / 2, 24)
  head.writeInt32LE(1000, 28)
  head.writeInt32LE(content.readInt32LE(0), 32)
  head.writeInt32BE(1, 100)
  head.writeInt32BE(content.length / 2, 104)
  return Buffer.concat([head, content])
}

test('a multipatch becomes polygons: its triangles, and its rings with their holes', async (t) => {
  const path = written(t, 'patch.shp', shpOf(multipatch([0, 1, 2, 3, 5])))
  const { features } = await read(path)
  const geometry = features[0]!.geometry as { coordinates: number[][][][]; converted: string }
  assert.equal(geometry.converted, 'surfaces')
  assert.deepEqual(
    geometry.coordinates.map((polygon) => polygon.map((ring) => ring.length)),
    [[4], [4], [4], [4], [5, 4], [4]],
  )
  assert.deepEqual(geometry.coordinates[1], [
    [
      [0, 1, 2],
      [1, 0, 3],
      [1, 1, 4],
      [0, 1, 2],
    ],
  ])
  const unknown = written(t, 'unknown.shp', shpOf(multipatch([0, 1, 2, 3, 9])))
  assert.match((await read(unknown)).unreadable[0]!.problem, /multipatch with a part of the unknown kind 9/)
  const cut = shpOf(multipatch([0, 1, 2, 3, 5]).subarray(0, 200))
  assert.equal((await read(written(t, 'cut.shp', cut))).unreadable[0]!.problem, 'the shape ends too early')
})

test('rings are grouped by direction and place, whatever their order', () => {
  const square = (x: number, y: number, size: number, clockwise = true) => {
    const ring = [
      [x, y],
      [x, y + size],
      [x + size, y + size],
      [x + size, y],
      [x, y],
    ]
    return clockwise ? ring : ring.reverse()
  }
  const island = square(0, 0, 10)
  const lake = square(2, 2, 6, false)
  const islet = square(3, 3, 4)
  const pond = square(4, 4, 1, false)
  const other = square(20, 0, 10)
  assert.deepEqual(groupRings([pond, lake, other, islet, island]), [[other], [islet, pond], [island, lake]])
  assert.deepEqual(groupRings([island, lake]), [[island, lake]])
  assert.deepEqual(groupRings([]), [])
  const touching = [
    [0, 5],
    [5, 0],
    [10, 5],
    [5, 10],
    [0, 5],
  ]
  assert.deepEqual(groupRings([island, other, touching]), [[island, touching], [other]])
  const reversed = (rings: number[][][]) => rings.map((ring) => [...ring].reverse())
  const [rIsland, rOther] = reversed([island, other])
  assert.deepEqual(groupRings([rIsland!, lake, rOther!]), [[rIsland, lake], [rOther]])
  const far = square(50, 50, 1, false)
  assert.deepEqual(groupRings([island, far, other]), [[island], [far], [other]])
  assert.deepEqual(groupRings([island, far]), [[island], [far]], 'no hole outside the only outer ring')
  const wrongShell = square(50, 50, 10, false)
  const itsHole = square(52, 52, 2, false)
  assert.deepEqual(groupRings([island, wrongShell, itsHole]), [[island], [wrongShell, itsHole]])
  const windingOfGeojson = [square(0, 0, 10, false), square(2, 2, 6)]
  assert.deepEqual(groupRings(windingOfGeojson), [windingOfGeojson])
  const wrongIslet = square(3, 3, 4, false)
  assert.deepEqual(groupRings([island, lake, wrongIslet]), [[island, lake], [wrongIslet]])
  const ponds = Array.from({ length: 50 }, (_, i) => square(2 + (i % 8), 2 + Math.floor(i / 8), 0.5, false))
  assert.deepEqual(groupRings([other, ...ponds, island]), [[other], [island, ...ponds]])
})

test('without .shx, .dbf or .prj the shapes are read', async (t) => {
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 }), feature({ a: 2 })])
  rmSync(join(folder, 'made.shx'))
  assert.deepEqual((await read(path)).rows, [{ a: 1 }, { a: 2 }])
  rmSync(join(folder, 'made.dbf'))
  rmSync(join(folder, 'made.prj'))
  const { stream, features } = await read(path)
  assert.equal(features.length, 2)
  assert.deepEqual([stream.columns, stream.crs], [[], null])
  assert.match(stream.notes[0]!, /no \.dbf/)
})

test('bytes after the last shape are ignored, and reported', async (t) => {
  const path = shapefile(scratch(t), [feature({ a: 1 }), feature({ a: 2 })])
  const whole = readFileSync(path)
  writeFileSync(path, Buffer.concat([whole, Buffer.alloc(240, 0xfc)]))
  const { stream, rows } = await read(path)
  assert.deepEqual(rows, [{ a: 1 }, { a: 2 }])
  assert.deepEqual(stream.notes, ['made.shp has bytes after its last shape: they were ignored.'])
})

test('truncated, damaged and unequal files are refused with the place', async (t) => {
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 }), feature({ a: 2 })])
  const whole = readFileSync(path)
  const cut = join(folder, 'cut.shp')
  writeFileSync(cut, whole.subarray(0, whole.length - 5))
  await refusal(cut, /^cut\.shp ends too early: inside shape 2\.$/)
  writeFileSync(cut, whole.subarray(0, 60))
  await refusal(cut, /^cut\.shp ends too early: it has no shapefile header\.$/)
  writeFileSync(cut, Buffer.alloc(200))
  await refusal(cut, /^cut\.shp is not a shapefile/)
  await refusal(path, /made\.shp: shape 1 is larger than \d+ bytes/, {
    limits: { ...DEFAULT_LIMITS, rowBytes: 10 },
  })
  copyFileSync(join(REAL, 'nc.dbf'), join(folder, 'made.dbf'))
  await refusal(path, /^made\.shp has 2 shapes, but its \.dbf has 100 rows\.$/)
  truncateSync(join(folder, 'made.dbf'), 1000)
  await refusal(path, /^made\.dbf ends too early: in row 4 of 100\.$|^made\.dbf ends too early/)
  writeFileSync(join(folder, 'made.dbf'), dbf([['A', 'C', 1, 0]], [' 1']))
  await refusal(path, /^made\.shp has more shapes than the 1 rows of its \.dbf\.$/)
})
