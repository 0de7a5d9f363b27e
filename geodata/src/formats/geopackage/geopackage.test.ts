import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../../compile/compile.ts'
import type { Geometry } from '../../feature.ts'
import { writeWkt } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  ogr2ogr,
  readAll,
  scratch,
  written,
} from '../reading.test-kit.ts'
import { openGeopackage } from './geopackage.ts'

needs('gdal')

const REAL = '/usr/lib/R/site-library/sf/gpkg'
const read = (path: string, options = {}) => readAll(openGeopackage(path, basename(path), options))
const refusal = (path: string, message: RegExp, options = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
  )

test('real GeoPackages say the same as GDAL reads from them', async () => {
  for (const [name, crs] of [
    ['nc', 'EPSG:4267'],
    ['b_pump', null],
    ['buildings', null],
    ['tl', 'EPSG:4269'],
  ] as const) {
    const path = join(REAL, `${name}.gpkg`)
    const { features, rows, stream, unreadable } = await read(path)
    const theirs = gdalFeatures(path)
    assert.deepEqual(unreadable, [], name)
    assert.equal(features.length, theirs.length, name)
    assertSameRows(rows, theirs)
    assertSameGeometries(features, theirs)
    assert.deepEqual(
      features.map(({ id }) => id),
      theirs.map(({ id }) => id ?? null),
      name,
    )
    if (crs) assert.equal(stream.crs, crs, name)
    assert.equal(stream.bytesRead, stream.totalBytes)
  }
})

test('a table without geometry is read as one', async () => {
  const { stream, rows, features } = await read(join(REAL, 'nospatial.gpkg'))
  assert.equal(stream.spatial, false)
  assert.deepEqual([stream.crs, features[0]!.geometry], [null, null])
  assert.deepEqual(
    rows,
    gdalFeatures(join(REAL, 'nospatial.gpkg')).map(({ properties }) => properties),
  )
})

const POINT = { type: 'Point', coordinates: [1, 2] }
const feature = (properties: object, geometry: object | null = POINT) => ({
  type: 'Feature',
  properties,
  geometry,
})

function geopackage(folder: string, name: string, features: object[], ...options: string[]): string {
  const source = join(folder, `${name}.geojson`)
  writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features }))
  const path = join(folder, 'made.gpkg')
  ogr2ogr('-f', 'GPKG', path, source, '-nln', name, '-lco', 'SPATIAL_INDEX=NO', ...options)
  return path
}

test('every type of column keeps its values: large integers, dates, times, booleans, bytes, JSON, nulls', async (t) => {
  const path = geopackage(scratch(t), 'types', [feature({})])
  const database = new DatabaseSync(path)
  database.exec(`
    ALTER TABLE types ADD COLUMN big INTEGER; ALTER TABLE types ADD COLUMN small MEDIUMINT;
    ALTER TABLE types ADD COLUMN real REAL; ALTER TABLE types ADD COLUMN text TEXT(20);
    ALTER TABLE types ADD COLUMN yes BOOLEAN; ALTER TABLE types ADD COLUMN day DATE;
    ALTER TABLE types ADD COLUMN moment DATETIME; ALTER TABLE types ADD COLUMN bytes BLOB;
    ALTER TABLE types ADD COLUMN nested JSON; ALTER TABLE types ADD COLUMN missing TEXT;
    UPDATE types SET big = 9007199254740993, small = 7, real = 1.5, text = 'ž', yes = 1, day = '2020-02-29',
      moment = '2020-02-29T12:00:00.5Z', bytes = x'00ff', nested = '{"a":[9007199254740993]}'`)
  database.close()
  const { stream, rows } = await read(path)
  assert.deepEqual(rows, [
    {
      big: 9007199254740993n,
      small: 7,
      real: 1.5,
      text: 'ž',
      yes: true,
      day: '2020-02-29',
      moment: '2020-02-29T12:00:00.5Z',
      bytes: 'AP8=',
      nested: { a: [9007199254740993n] },
      missing: null,
    },
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['integer', 'integer', 'number', 'text', 'boolean', 'date', 'timestamp', 'text', 'json', 'text'],
  )
})

test('Z, empty, missing and collected geometries are read as GDAL does, or refused by row', async (t) => {
  const folder = scratch(t)
  const geometries = [
    { type: 'Point', coordinates: [1, 2, 3] },
    null,
    {
      type: 'GeometryCollection',
      geometries: [
        POINT,
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      ],
    },
    {
      type: 'MultiPolygon',
      coordinates: [
        [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
        [
          [
            [5, 5],
            [6, 5],
            [6, 6],
            [5, 5],
          ],
        ],
      ],
    },
  ]
  const path = geopackage(
    folder,
    'shapes',
    geometries.map((geometry) => feature({ a: 1 }, geometry)),
    '-nlt',
    'GEOMETRYZ',
  )
  const database = new DatabaseSync(path)
  const blob = (wkb: string) => `x'47500001e6100000${wkb}'`
  database.exec(`INSERT INTO shapes (geom) VALUES
    (${blob('0101000000000000000000f87f000000000000f87f')}), (${blob('016300000000000000')}), (x'00')`)
  database.close()
  const { features, unreadable } = await read(path)
  const wholeZ = JSON.stringify(features.slice(0, 4).map(({ geometry }) => geometry))
  assert.equal(
    wholeZ,
    JSON.stringify(
      gdalFeatures(path)
        .slice(0, 4)
        .map(({ geometry }) => geometry),
    ),
  )
  assert.deepEqual(features[4]!.geometry, { type: 'Point', coordinates: [] })
  assert.deepEqual(unreadable, [
    { row: 6, problem: 'the geometry has the unknown WKB type 99' },
    { row: 7, problem: 'the geometry is not a GeoPackage geometry' },
  ])
})

test('one of several layers is chosen by name, and without a name they are listed', async (t) => {
  const folder = scratch(t)
  geopackage(folder, 'roads', [feature({ a: 1 })])
  const path = geopackage(folder, 'rivers', [feature({ b: 2 })], '-update')
  await refusal(path, /^made\.gpkg has 2 layers: roads, rivers\. Choose one with --layer\.$/)
  await refusal(path, /^made\.gpkg has no layer lakes; it has roads, rivers\.$/, { layer: 'lakes' })
  assert.deepEqual((await read(path, { layer: 'RIVERS' })).rows, [{ b: 2 }])
})

test('a CRS that only the file knows is given as its definition', async (t) => {
  const folder = scratch(t)
  const path = geopackage(
    folder,
    'own',
    [feature({ a: 1 })],
    '-a_srs',
    '+proj=tmerc +lon_0=9.123 +x_0=100 +ellps=GRS80',
  )
  const { stream } = await read(path)
  assert.match(stream.crs!, /^PROJCS\[/)
  const known = await read(geopackage(scratch(t), 'known', [feature({ a: 1 })], '-a_srs', 'EPSG:25832'))
  assert.equal(known.stream.crs, 'EPSG:25832')
})

test('a damaged, truncated or other database is refused with a sentence', async (t) => {
  const whole = readFileSync(join(REAL, 'nc.gpkg'))
  await refusal(
    written(t, 'cut.gpkg', whole.subarray(0, 50000)),
    /^cut\.gpkg ends too early: it has 50000 of \d+ bytes\.$/,
  )
  await refusal(written(t, 'cut.gpkg', whole.subarray(0, 50)), /^cut\.gpkg ends too early/)
  const overwritten = Buffer.from(whole)
  overwritten.fill(0x5a, 8192, whole.length - 4096)
  await refusal(written(t, 'bad.gpkg', overwritten), /^bad\.gpkg cannot be read.*malformed/)
  const path = join(scratch(t), 'plain.gpkg')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE t (a)')
  database.close()
  await refusal(path, /^plain\.gpkg is an SQLite database, but not a GeoPackage\.$/)
  const empty = new DatabaseSync(path)
  empty.exec('CREATE TABLE gpkg_contents (table_name, data_type)')
  empty.close()
  await refusal(path, /^plain\.gpkg has no layer with features or rows\.$/)
})

test('a geometry over the size limit is refused with the name of the setting', async (t) => {
  const path = geopackage(scratch(t), 'large', [feature({ a: 1 })])
  await assert.rejects(
    read(path, { limits: { ...DEFAULT_LIMITS, rowBytes: 20 } }),
    /row 1 is larger than 20 bytes, the limit of WAYLEAVE_MAX_FEATURE_BYTES\.$/,
  )
})

test('another geometry column becomes WKT, with a note', async (t) => {
  const path = geopackage(scratch(t), 'two', [feature({ a: 1 }), feature({ a: 2 })])
  const database = new DatabaseSync(path)
  database.exec(`ALTER TABLE two ADD COLUMN centre POINT; UPDATE two SET centre = geom WHERE a = 1`)
  database.close()
  const { rows, stream } = await read(path)
  assert.deepEqual(rows, [
    { a: 1, centre: writeWkt(POINT as Geometry) },
    { a: 2, centre: null },
  ])
  assert.match(stream.notes[0]!, /^Column centre is another geometry: it is kept as WKT text/)
})

test('the report says why declared dates and times are published as text', async (t) => {
  const path = geopackage(scratch(t), 'times', [feature({}), feature({})])
  const database = new DatabaseSync(path)
  for (const name of ['blank', 'mixed', 'fine', 'plain'])
    database.exec(`ALTER TABLE times ADD COLUMN ${name} DATETIME`)
  for (const name of ['words', 'both', 'days']) database.exec(`ALTER TABLE times ADD COLUMN ${name} DATE`)
  database.exec(`UPDATE times SET blank = '', mixed = '2020-02-29', fine = '2020-02-29T12:00:00.123456789Z',
      plain = '2020-02-29T12:00:00Z', words = 'today', both = '2020-02-29T12:00:00Z', days = '2020-02-29';
    UPDATE times SET blank = plain, mixed = plain, words = days, both = days WHERE fid = 1`)
  database.close()
  const { manifest } = await compileSnapshot({ path, folder: join(scratch(t), 'snapshot') })
  const types = Object.fromEntries(manifest.columns.map(({ name, type }) => [name, type]))
  assert.deepEqual([types['plain'], types['days']], ['timestamp', 'date'])
  const times =
    'has values that are not times or that a column of times cannot hold, such as nanoseconds or years beyond 9999'
  const dates =
    'has values that are not dates or that a column of dates cannot hold, such as years beyond 9999'
  assert.deepEqual(
    manifest.notes,
    [
      `Column blank ${times}`,
      'Column mixed has dates and times',
      `Column fine ${times}`,
      `Column words ${dates}`,
      'Column both has dates and times',
    ].map((note) => `${note}: it is published as text.`),
  )
})

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS i'
/** A hundred million rows of 10 MB. */
const LONG = `CREATE TABLE ten (i); INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
  CREATE VIEW layer AS WITH n AS (SELECT a.i FROM ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h)
  SELECT i, printf('%.*c', 90000, 'x') AS t FROM n`

test('a view that calls itself is refused', async (t) => {
  const path = madeGeopackage(t, 'endless.gpkg', `CREATE VIEW layer AS ${ENDLESS} FROM n`)
  await refusal(path, /^endless\.gpkg uses a recursive query, which is not executed\.$/)
  const view = `CREATE VIEW gpkg_contents AS ${ENDLESS}, 'layer' AS table_name, 'attributes' AS data_type, 0 AS rowid FROM n`
  await refusal(madeGeopackage(t, 'layers.gpkg', 'CREATE TABLE layer (i)', view), /uses a recursive query/)
})

test('a view that is much larger than its file is refused, and opening it computes no row of it', async (t) => {
  const path = madeGeopackage(t, 'long.gpkg', LONG)
  const stream = await openGeopackage(path, 'long.gpkg')
  assert.equal(stream.totalBytes, null)
  await stream.batches()[Symbol.asyncIterator]().return?.()
  await refusal(
    path,
    /^long\.gpkg holds more than 64 MB of values, although it has only .*WAYLEAVE_MAX_EXPANSION/,
  )
})

test('a row whose texts together are too large is refused', async (t) => {
  const path = madeGeopackage(t, 'wide.gpkg', LONG)
  await refusal(path, /row 1 is larger than 80000 bytes/, { limits: { ...DEFAULT_LIMITS, rowBytes: 80_000 } })
  const huge = madeGeopackage(
    t,
    'huge.gpkg',
    `CREATE VIEW layer AS SELECT printf('%.*c', 900000000, 'x') AS t`,
  )
  await refusal(huge, /a row is larger than 64 MB, the limit of WAYLEAVE_MAX_FEATURE_BYTES\.$/)
})

test('a table of layers that is too long is refused', async (t) => {
  const view = `CREATE TABLE ten (i); INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
    CREATE VIEW gpkg_contents AS SELECT 'layer' AS table_name, 'attributes' AS data_type, 0 AS rowid
      FROM ten a, ten b, ten c, ten d, ten e, ten f`
  await refusal(madeGeopackage(t, 'layers.gpkg', 'CREATE TABLE layer (i)', view), /more than 10000 rows/)
})

function madeGeopackage(t: TestContext, name: string, layer: string, contents?: string): string {
  const path = join(scratch(t), name)
  const database = new DatabaseSync(path)
  if (contents === undefined) {
    database.exec('CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT)')
    database.exec(`INSERT INTO gpkg_contents VALUES ('layer', 'attributes')`)
  } else database.exec(contents)
  database.exec(layer)
  database.close()
  return path
}
