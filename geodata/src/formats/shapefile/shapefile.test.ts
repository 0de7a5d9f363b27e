import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { feature as topojsonFeature } from 'topojson-client'
import { crsCode } from '../../crs.ts'
import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  ogr2ogr,
  readAll,
  scratch,
} from '../reading.test-kit.ts'
import { groupRings } from './rings.ts'
import { openShapefile } from './shapefile.ts'

const require = createRequire(import.meta.url)
const REAL = '/usr/lib/R/site-library/sf/shape'
const read = (path: string, options = {}) => readAll(openShapefile(path, basename(path), options))
const refusal = (path: string, message: RegExp, options = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

const POINT = { type: 'Point', coordinates: [1, 2] }
const feature = (properties: object, geometry: object | null = POINT) => ({
  type: 'Feature',
  properties,
  geometry,
})

/** A shapefile that GDAL writes from GeoJSON. */
function shapefile(folder: string, features: object[], ...options: string[]): string {
  const source = join(folder, 'source.geojson')
  writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features }))
  const path = join(folder, 'made.shp')
  ogr2ogr('-f', 'ESRI Shapefile', path, source, ...options)
  return path
}

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

test('every kind of shape is read: lines, points, with Z and M, missing ones; a multipatch is refused by row', async (t) => {
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
  const path = shapefile(folder, [feature({ a: 1 })])
  const bytes = readFileSync(path)
  bytes.writeInt32LE(31, 108)
  writeFileSync(path, bytes)
  assert.deepEqual((await read(path)).unreadable, [
    { row: 1, problem: 'the shape is a multipatch, which GeoJSON cannot express' },
  ])
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
  assert.deepEqual(groupRings([island, square(50, 50, 1, false), other]), [
    [island],
    [square(50, 50, 1, false)],
    [other],
  ])
})

test('dBase values keep their types: large integers, dates, booleans, overflow and deleted rows', async (t) => {
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 }), feature({ a: 2 }), feature({ a: 3 }), feature({ a: 4 })])
  writeFileSync(
    join(folder, 'made.dbf'),
    dbf(
      [
        ['BIG', 'N', 19, 0],
        ['NUM', 'N', 12, 3],
        ['FLT', 'F', 12, 3],
        ['YES', 'L', 1, 0],
        ['DAY', 'D', 8, 0],
        ['TXT', 'C', 5, 0],
        ['MEMO', 'M', 10, 0],
      ],
      [
        ' 9223372036854775807       1.500       2.250T20200229ab   0000000001',
        '*9223372036854775807       1.500       2.250T20200229gone 0000000001',
        ' *******************************************?        \0\0\0\0\0          ',
        '                  -7      -0.125            F00000000 x            ',
      ],
    ),
  )
  const { stream, rows, features } = await read(path)
  assert.deepEqual(rows, [
    { BIG: 9223372036854775807n, NUM: 1.5, FLT: 2.25, YES: true, DAY: '2020-02-29', TXT: 'ab' },
    { BIG: null, NUM: null, FLT: null, YES: null, DAY: null, TXT: null },
    { BIG: -7, NUM: -0.125, FLT: null, YES: false, DAY: null, TXT: ' x' },
  ])
  assert.deepEqual(
    features.map(({ row }) => row),
    [1, 3, 4],
  )
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['integer', 'number', 'number', 'boolean', 'date', 'text'],
  )
  assert.match(stream.notes[0]!, /Column MEMO is left out/)
})

function dbf(fields: [string, string, number, number][], rows: (string | Buffer)[], driver = 0): Buffer {
  const recordLength = 1 + fields.reduce((sum, [, , length]) => sum + length, 0)
  const header = Buffer.alloc(32 + fields.length * 32 + 1)
  header[0] = 3
  header.writeUInt32LE(rows.length, 4)
  header.writeUInt16LE(header.length, 8)
  header.writeUInt16LE(recordLength, 10)
  header[29] = driver
  fields.forEach(([name, type, length, decimals], i) => {
    header.write(name, 32 + i * 32, 'latin1')
    header.write(type, 32 + i * 32 + 11, 'latin1')
    header[32 + i * 32 + 16] = length
    header[32 + i * 32 + 17] = decimals
  })
  header[header.length - 1] = 0x0d
  const records = rows.map((row) =>
    Buffer.concat([Buffer.from(row as string, 'latin1'), Buffer.alloc(recordLength, ' ')]).subarray(
      0,
      recordLength,
    ),
  )
  return Buffer.concat([header, ...records, Buffer.from([0x1a])])
}

test('texts are decoded by the .cpg, else by the language driver, else as what they are', async (t) => {
  const cases: [bytes: string, cpg: string | null, driver: number, text: string][] = [
    ['c5bd6c75', 'UTF-8', 0, 'Žlu'],
    ['c5bd6c75', '65001', 0, 'Žlu'],
    ['c5bd6c75', null, 0x57, 'Žlu'],
    ['436166e9', null, 0x57, 'Café'],
    ['436166e9', 'ISO-8859-1', 0, 'Café'],
    ['436166e9', '88591', 0, 'Café'],
    ['ae', 'ISO 8859-2', 0, 'Ž'],
    ['8e', '1250', 0, 'Ž'],
    ['8e', 'ANSI 1250', 0, 'Ž'],
    ['cceef1eae2e0', 'windows-1251', 0, 'Москва'],
    ['cceef1eae2e0', null, 0xc9, 'Москва'],
    ['8cae8aa2', '866', 0, 'МоКв'],
    ['82', 'OEM 437', 0, 'é'],
    ['82', null, 1, 'é'],
    ['b5', null, 2, 'Á'],
    ['a6', 'CP852', 0, 'Ž'],
    ['a4a4a4e5', 'Big5', 0, '中文'],
    ['d6d0cec4', '936', 0, '中文'],
    ['93fa967b', 'Shift_JIS', 0, '日本'],
    ['93fa967b', null, 0x13, '日本'],
    ['436166e9', 'nonsense', 0, 'Café'],
  ]
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 })])
  for (const [hex, cpg, driver, text] of cases) {
    writeFileSync(
      join(folder, 'made.dbf'),
      dbf([['T', 'C', 10, 0]], [Buffer.from(`20${hex}`, 'hex')], driver),
    )
    if (cpg === null) rmSync(join(folder, 'made.cpg'), { force: true })
    else writeFileSync(join(folder, 'made.cpg'), cpg)
    assert.deepEqual((await read(path)).rows, [{ T: text }], `${hex} ${cpg} ${driver}`)
  }
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
  await refusal(path, /made\.shp: shape 1 is larger than 0 MB/, {
    limits: { ...DEFAULT_LIMITS, rowBytes: 10 },
  })
  copyFileSync(join(REAL, 'nc.dbf'), join(folder, 'made.dbf'))
  await refusal(path, /^made\.shp has 2 shapes, but its \.dbf has 100 rows\.$/)
  truncateSync(join(folder, 'made.dbf'), 1000)
  await refusal(path, /^made\.dbf ends too early: in row 4 of 100\.$|^made\.dbf ends too early/)
  writeFileSync(join(folder, 'made.dbf'), dbf([['A', 'C', 1, 0]], [' 1']))
  await refusal(path, /^made\.shp has more shapes than the 1 rows of its \.dbf\.$/)
})
