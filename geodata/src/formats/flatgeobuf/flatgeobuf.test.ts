import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { ColumnType as PackageColumnType } from 'flatgeobuf/lib/mjs/flat-geobuf/column-type.js'
import { GeometryType as PackageGeometryType } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry-type.js'
import { calcTreeSize } from 'flatgeobuf/lib/mjs/packedrtree.js'
import { feature as topojsonFeature } from 'topojson-client'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { SourceError } from '../../source-error.ts'
import { fileSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  inPieces,
  ogr2ogr,
  readAll,
  scratch,
} from '../reading.test-kit.ts'
import { openFlatgeobuf } from './flatgeobuf.ts'
import { ColumnType, fgbIndexBytes, GeometryType } from './flatgeobuf-tables.ts'
import { readFlatgeobufValues } from './flatgeobuf-values.ts'

needs('gdal')

const require = createRequire(import.meta.url)
const read = async (path: string) => readAll(openFlatgeobuf(await fileSource(path, 'a.fgb')))

function flatgeobuf(folder: string, features: object[], ...options: string[]): string {
  const source = join(folder, 'source.geojson')
  writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features }))
  const path = join(folder, 'made.fgb')
  ogr2ogr('-f', 'FlatGeobuf', path, source, ...options)
  return path
}

const feature = (properties: object, geometry: object | null) => ({ type: 'Feature', properties, geometry })

test('the numbers of types and the size of the index are those of the package flatgeobuf', () => {
  const byName = (numbers: object) => Object.entries(numbers).filter(([name]) => /^[A-Z]/i.test(name))
  assert.deepEqual(Object.entries(ColumnType), byName(PackageColumnType))
  assert.deepEqual(Object.entries(GeometryType), byName(PackageGeometryType))
  for (const items of [1, 2, 16, 17, 4097])
    for (const nodeSize of [2, 16])
      assert.equal(fgbIndexBytes(items, nodeSize), calcTreeSize(items, nodeSize))
})

test('the countries of the world, indexed or not, say the same as GDAL reads from them', async (t) => {
  const topology = JSON.parse(readFileSync(require.resolve('world-atlas/countries-110m.json'), 'utf8'))
  const { features: countries } = topojsonFeature(topology, topology.objects.countries) as unknown as {
    features: object[]
  }
  for (const index of ['YES', 'NO']) {
    const path = flatgeobuf(
      scratch(t),
      countries,
      '-lco',
      `SPATIAL_INDEX=${index}`,
      '-nlt',
      'PROMOTE_TO_MULTI',
    )
    const { features, rows, stream } = await read(path)
    const theirs = gdalFeatures(path)
    assertSameGeometries(features, theirs)
    assertSameRows(rows, theirs)
    assert.equal(stream.crs, 'EPSG:4326')
    assert.equal(stream.bytesRead, stream.totalBytes)
  }
})

test('mixed geometries with Z are read as GDAL does', async (t) => {
  const geometries = [
    { type: 'Point', coordinates: [1, 2, 3] },
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    },
    {
      type: 'LineString',
      coordinates: [
        [1, 2, 3],
        [4, 5, 6],
      ],
    },
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
        [
          [7, 8, 9],
          [1, 1, 1],
        ],
      ],
    },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0, 1],
          [9, 0, 1],
          [9, 9, 1],
          [0, 0, 1],
        ],
        [
          [2, 1, 1],
          [3, 2, 1],
          [3, 1, 1],
          [2, 1, 1],
        ],
      ],
    },
    {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [0, 0, 1],
            [9, 0, 1],
            [9, 9, 1],
            [0, 0, 1],
          ],
        ],
        [
          [
            [20, 0, 1],
            [29, 0, 1],
            [29, 9, 1],
            [20, 0, 1],
          ],
        ],
      ],
    },
    {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Point', coordinates: [1, 2, 3] },
        {
          type: 'LineString',
          coordinates: [
            [0, 0, 1],
            [1, 1, 1],
          ],
        },
      ],
    },
  ]
  const path = flatgeobuf(
    scratch(t),
    geometries.map((geometry, i) => feature({ i }, geometry)),
    '-lco',
    'SPATIAL_INDEX=NO',
    '-nlt',
    'GEOMETRYZ',
  )
  const { features, stream } = await read(path)
  assertSameGeometries(features, geometries.map((geometry) => ({ geometry })) as typeof features)
  assertSameGeometries(features, gdalFeatures(path))
  assert.deepEqual(stream.columns, [{ name: 'i', type: 'integer' }])
})

test('every type of column keeps its values', async (t) => {
  const folder = scratch(t)
  const csv = join(folder, 'types.csv')
  writeFileSync(
    csv,
    'i,big,real,text,yes,day,moment,x,y\n1,9007199254740993,1.5,ž,1,2020/02/29,2020/02/29 12:00:00,5,6\n2,,,,,,,5,6\n',
  )
  writeFileSync(
    join(folder, 'types.csvt'),
    'Integer,Integer64,Real,String,Integer(Boolean),Date,DateTime,CoordX,CoordY',
  )
  const path = join(folder, 'types.fgb')
  ogr2ogr('-f', 'FlatGeobuf', path, csv, '-lco', 'SPATIAL_INDEX=NO', '-oo', 'KEEP_GEOM_COLUMNS=NO')
  const { rows, stream, features } = await read(path)
  assert.deepEqual(rows, [
    {
      i: 1,
      big: 9007199254740993n,
      real: 1.5,
      text: 'ž',
      yes: true,
      day: '2020-02-29T00:00:00',
      moment: '2020-02-29T12:00:00',
    },
    { i: 2, big: null, real: null, text: '', yes: null, day: null, moment: null },
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['integer', 'integer', 'number', 'text', 'boolean', 'infer-json', 'infer-json'],
  )
  assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [5, 6] })
  assert.equal(stream.crs, null)
})

test('every column type of the format is read, with a spare byte at the end of the values', () => {
  const types = [
    ...[ColumnType.Byte, ColumnType.UByte, ColumnType.Bool, ColumnType.Short, ColumnType.UShort],
    ...[ColumnType.Int, ColumnType.UInt, ColumnType.Long, ColumnType.ULong, ColumnType.Float],
    ...[ColumnType.Double, ColumnType.String, ColumnType.Json, ColumnType.DateTime, ColumnType.Binary],
  ]
  const sized = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length, 0, 0, 0]), bytes])
  const ones = (bytes: number) => Buffer.alloc(bytes, 0xff)
  const [float, double] = [Buffer.alloc(4), Buffer.alloc(8)]
  float.writeFloatLE(0.5)
  double.writeDoubleLE(-0.25)
  const values = [
    ...[ones(1), ones(1), ones(1), ones(2), ones(2), ones(4), ones(4), ones(8), ones(8), float, double],
    ...['X', '{"a":[1]}', '2020-02-29T12:34:56Z', 'X'].map((text) => sized(Buffer.from(text))),
  ]
  const properties = Buffer.concat([
    ...values.flatMap((value, column) => [Buffer.from([column, 0]), value]),
    Buffer.alloc(1),
  ])
  const columns = types.map((type, i) => ({ name: `c${i}`, type }))
  assert.deepEqual(readFlatgeobufValues(properties, columns), [
    ...[-1, 255, true, -1, 65535, -1, 4294967295, -1, 18446744073709551615n, 0.5, -0.25],
    ...['X', { a: [1] }, '2020-02-29T12:34:56Z', 'WA=='],
  ])
})

test('the CRS is the code where it is known', async (t) => {
  const point = feature({ a: 1 }, { type: 'Point', coordinates: [500000, 5800000] })
  assert.equal((await read(flatgeobuf(scratch(t), [point], '-a_srs', 'EPSG:25832'))).stream.crs, 'EPSG:25832')
  const own = await read(flatgeobuf(scratch(t), [point], '-a_srs', '+proj=tmerc +lon_0=9.123 +ellps=GRS80'))
  assert.match(own.stream.crs!, /^PROJC/)
})

test('truncated and damaged files are refused with the place, whatever the cut', async (t) => {
  const points = Array.from({ length: 5 }, (_, i) =>
    feature({ name: `place ${i}` }, { type: 'Point', coordinates: [i, i] }),
  )
  const whole = readFileSync(flatgeobuf(scratch(t), points))
  const readBytes = (bytes: Uint8Array, limits = DEFAULT_LIMITS) =>
    readAll(openFlatgeobuf(inPieces(bytes, 'a.fgb', 100), { limits }))
  for (let length = 9; length < whole.length; length += 7) {
    await assert.rejects(
      readBytes(whole.subarray(0, length)),
      (error: Error) => error instanceof SourceError && /^a\.fgb ends too early: /.test(error.message),
    )
  }
  await assert.rejects(
    readBytes(whole, { ...DEFAULT_LIMITS, rowBytes: 10 }),
    /^SourceError: a\.fgb: feature 1 is larger than \d+ bytes/,
  )
  // Any damage must give an error message or a row problem, never a crash.
  for (let at = 12; at < whole.length; at += 3) {
    const broken = Buffer.from(whole)
    broken[at] = broken[at]! ^ 0xff
    await readBytes(broken).catch((error) => assert.ok(error instanceof SourceError, `${at}: ${error.stack}`))
  }
})
