import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { readWkt } from '../../geometry/wkt.ts'
import { SourceError } from '../../source-error.ts'
import { openSource, type SourceOptions } from '../index.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  ogr2ogr,
  readAll,
  scratch,
} from '../reading.test-kit.ts'

needs('gdal')

const NO_GDAL = { program: null, seconds: 1, megabytes: 1 }
const read = (path: string, options: SourceOptions = {}) =>
  readAll(openSource(path, { gdal: NO_GDAL, ...options }))
const refused = (path: string, message: RegExp, options: SourceOptions = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
  )
const SPATIALITE = ['-dsco', 'SPATIALITE=YES', '-dsco', 'INIT_WITH_EPSG=NO']

function changed(path: string, sql: string): string {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  return path
}

/** A SpatiaLite file that GDAL writes from three points with a name, changed by SQL. */
function spatialite(t: TestContext, sql = '', ...options: string[]): string {
  const folder = scratch(t)
  const features = ['a', 'b', 'c'].map((name, i) => ({
    type: 'Feature',
    id: i + 1,
    properties: { name },
    geometry: { type: 'Point', coordinates: [i + 1, 50] },
  }))
  writeFileSync(join(folder, 'source.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const path = join(folder, 'pois.sqlite')
  const source = join(folder, 'source.geojson')
  const format = options.length === 0 ? SPATIALITE : options
  ogr2ogr('-f', 'SQLite', path, source, '-nln', 'pois', ...format)
  return changed(path, sql)
}

test('real files, also with the tables of SpatiaLite 2, say the same as GDAL reads from them', async () => {
  for (const [name, layer, crs] of [
    ['meuse', 'meuse.sqlite', null],
    ['nc', 'nc.sqlite', 'EPSG:4267'],
    ['test3', 'Towns', 'EPSG:32632'],
    ['test3', 'HighWays', 'EPSG:32632'],
    ['test3', 'Regions', 'EPSG:32632'],
  ] as const) {
    const path = `/usr/lib/R/site-library/sf/sqlite/${name}.sqlite`
    const { features, rows, stream } = await read(path, { layer })
    const theirs = gdalFeatures(path, layer)
    assertSameRows(rows, theirs)
    assertSameGeometries(features, theirs)
    assert.deepEqual(
      features.map(({ id }) => id),
      theirs.map(({ id }) => id),
    )
    if (crs !== null) assert.equal(stream.crs, crs, name)
  }
})

const LINE = '(0 0, 1.1 1, 2 3.3, 5 5.5, 7 7)'
const RINGS = '((0 0, 10 0, 10.5 10, 0 10, 0 0), (2 2, 3 2, 3 3.3, 2 2))'
const SHAPES = [
  'POINT (1.5 2)',
  `LINESTRING ${LINE}`,
  `POLYGON ${RINGS}`,
  'MULTIPOINT (1 2, 3 4)',
  `MULTILINESTRING (${LINE}, (1 1, 2 2))`,
  `MULTIPOLYGON (${RINGS}, ((20 20, 21 20, 21 21, 20 20)))`,
  `GEOMETRYCOLLECTION (POINT (1 2), LINESTRING ${LINE}, POLYGON ${RINGS})`,
]
/** The same shapes with a height, a measure, or both. */
const DIMENSIONS = { XY: ['', ''], XYZ: ['Z', ' 10.25'], XYM: ['M', ' 7'], XYZM: ['ZM', ' 10.25 7'] } as const

function wktShapes(dimension: keyof typeof DIMENSIONS): string[] {
  const [suffix, values] = DIMENSIONS[dimension]
  return SHAPES.map((shape) =>
    shape.replace(/([A-Z]+) \(/g, `$1${suffix}(`).replace(/([\d.]+ [\d.]+)/g, `$1${values}`),
  )
}

/** Blobs that libspatialite makes, as hexadecimal text; GDAL runs its functions. */
function blobs(t: TestContext, expressions: string[]): string[] {
  const folder = scratch(t)
  const sql = expressions
    .map((expression, i) => `SELECT ${i} AS i, hex(${expression}) AS h`)
    .join(' UNION ALL ')
  writeFileSync(join(folder, 'blobs.sql'), sql)
  const output = execFileSync('ogrinfo', [
    '-ro',
    '-q',
    spatialite(t),
    '-sql',
    `@${join(folder, 'blobs.sql')}`,
  ])
  return [...output.toString().matchAll(/h \(String\) = (\w+)/g)].map((match) => match[1]!)
}

/** A file with a table of these blobs. */
function blobsFile(t: TestContext, hexBlobs: string[]): string {
  const rows = hexBlobs.map((hex) => `INSERT INTO shapes (geometry) VALUES (x'${hex}');`)
  return spatialite(
    t,
    `CREATE TABLE shapes (id INTEGER PRIMARY KEY, geometry BLOB); ${rows.join('')}
     UPDATE geometry_columns SET f_table_name = 'shapes'`,
    '-lco',
    'FORMAT=SPATIALITE',
  )
}

test('geometries of all types and dimensions are those that libspatialite wrote and GDAL reads', async (t) => {
  for (const dimension of ['XY', 'XYZ', 'XYM', 'XYZM'] as const) {
    const shapes = wktShapes(dimension)
    const plain = shapes.map((wkt) => `GeomFromText('${wkt}', 4326)`)
    const path = blobsFile(t, blobs(t, [...plain, ...plain.map((value) => `CompressGeometry(${value})`)]))
    const { features, unreadable, stream } = await read(path)
    assert.deepEqual(unreadable, [])
    const expected = shapes.map((wkt) => ({ geometry: readWkt(wkt) }))
    assertSameGeometries(features.slice(0, SHAPES.length), expected)
    assertSameGeometries(features, gdalFeatures(path))
    assert.deepEqual([stream.crs, stream.notes], ['EPSG:4326', []])
  }
})

test('geometries in the tables of GDAL are those that it reads', async (t) => {
  for (const dimension of ['XY', 'XYZ', 'XYM', 'XYZM'] as const)
    for (const format of ['WKB', 'WKT']) {
      const folder = scratch(t)
      const [path, source] = [join(folder, 'shapes.sqlite'), join(folder, 'shapes.csv')]
      // GDAL wants a space before the letters.
      const rows = wktShapes(dimension).map(
        (wkt) => `1,"${wkt.replace(/([A-Z]{4,}?)(Z?M?)\(/g, '$1 $2 (')}"\n`,
      )
      writeFileSync(source, `n,wkt\n${rows.join('')}`)
      const columns = ['-oo', 'GEOM_POSSIBLE_NAMES=wkt', '-oo', 'KEEP_GEOM_COLUMNS=NO']
      ogr2ogr('-f', 'SQLite', path, source, ...columns, '-a_srs', 'EPSG:4326', '-lco', `FORMAT=${format}`)
      const { features } = await read(path)
      assert.equal(features.length, SHAPES.length)
      assertSameGeometries(features, gdalFeatures(path))
    }
})

test('rows, ids and the CRS are those that GDAL reads from SpatiaLite and from its own tables', async (t) => {
  for (const options of [[...SPATIALITE], ['-lco', 'FORMAT=WKB'], ['-lco', 'FORMAT=WKT']]) {
    const path = spatialite(t, 'DELETE FROM pois WHERE ogc_fid = 2', ...options, '-a_srs', 'EPSG:25832')
    const { features, rows, stream } = await read(path)
    const theirs = gdalFeatures(path)
    assertSameRows(rows, theirs)
    assertSameGeometries(features, theirs)
    assert.deepEqual(
      features.map(({ id }) => id),
      theirs.map(({ id }) => id),
    )
    assert.equal(stream.crs, 'EPSG:25832')
  }
})

test('a geometry in either byte order, as TinyPoint, empty or damaged is read or is a problem of its row', async (t) => {
  const points = ['POINT(1 2)', 'POINTZ(1 2 3)', 'POINTM(1 2 3)', 'POINTZM(1 2 3 4)']
  const bigEndian = `0000000010e6${'00'.repeat(32)}7c000000013ff00000000000004000000000000000fe`
  const path = blobsFile(t, [
    ...blobs(
      t,
      points.map((wkt) => `TinyPointEncode(GeomFromText('${wkt}', 4326))`),
    ),
    bigEndian,
    '0001',
    `0001e6100000${'00'.repeat(32)}7c02000000ffffffff${'00'.repeat(40)}fe`,
    `0001e6100000${'00'.repeat(32)}7c63000000${'00'.repeat(40)}fe`,
    `0001e6100000${'00'.repeat(32)}7c070000000100000069070000000000000000fe`,
  ])
  changed(path, `INSERT INTO shapes (geometry) VALUES (NULL), ('text')`)
  const { features, unreadable } = await read(path)
  assert.deepEqual(
    features.map(({ geometry }) => geometry && 'coordinates' in geometry && geometry.coordinates),
    [[1, 2], [1, 2, 3], [1, 2], [1, 2, 3], [1, 2], null],
  )
  assert.deepEqual(unreadable, [
    { row: 6, problem: 'the geometry is not a SpatiaLite geometry' },
    { row: 7, problem: 'the geometry ends too early' },
    { row: 8, problem: 'the geometry has the unknown SpatiaLite type 99' },
    { row: 9, problem: 'the geometry has the unknown SpatiaLite type 7' },
    { row: 11, problem: 'the geometry is not a SpatiaLite geometry' },
  ])
})

test('values are those of the file: integers of 64 bits, texts and decimals in integers, dates and times', async (t) => {
  const columns = [
    'osm_id INTEGER',
    'mixed INTEGER',
    'amount DECIMAL(20,2)',
    'bare',
    'at TIMESTAMP',
    'day DATE',
    'flag BOOLEAN',
    'also INTEGER_BOOLEAN',
    'short INTEGER_INT16',
    'tags JSONSTRINGLIST',
    'fid INTEGER',
    'geom TEXT',
  ]
  const path = spatialite(
    t,
    `${columns.map((column) => `ALTER TABLE pois ADD COLUMN ${column};`).join('')}
    UPDATE pois SET osm_id = 5000000000 + ogc_fid, mixed = 1.5, amount = 1.5, bare = 'x', fid = 7, geom = 'g',
      at = '2020-01-01 10:00:00', day = '2020/2/3', flag = 1, also = 0, short = 5, tags = '["a,b","c"]';
    UPDATE pois SET mixed = 'abc', amount = 1152921504606846977, bare = 5, at = 2458850.5,
      day = '2020-02-03T10:00' WHERE ogc_fid = 3;
    DELETE FROM pois WHERE ogc_fid = 2`,
  )
  const { stream, rows, features } = await read(path)
  const same = { flag: true, also: false, short: 5, tags: ['a,b', 'c'], fid: 7, geom: 'g' }
  assert.deepEqual(rows, [
    {
      ...{ name: 'a', osm_id: 5000000001, mixed: 1.5, amount: 1.5, bare: 'x' },
      ...{ at: '2020-01-01T10:00:00', day: '2020-02-03', ...same },
    },
    {
      ...{ name: 'c', osm_id: 5000000003, mixed: 'abc', amount: 1152921504606846977n, bare: 5 },
      ...{ at: '2020-01-02T00:00:00.000', day: '2020-02-03T10:00', ...same },
    },
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type).join(' '),
    'text integer integer infer-json infer-json timestamp date boolean boolean integer json integer text',
  )
  assert.deepEqual(
    features.map(({ id, geometry }) => [id, geometry]),
    [
      [1, { type: 'Point', coordinates: [1, 50] }],
      [3, { type: 'Point', coordinates: [3, 50] }],
    ],
  )
  assert.deepEqual(stream.notes, [])
})

test('tables and views that are not layers are chosen by name, and have ids as GDAL gives them', async (t) => {
  const path = spatialite(
    t,
    `CREATE TABLE "o""dd" ("a b" INTEGER, "it's" TEXT); INSERT INTO "o""dd" VALUES (1, 'w'), (5000000000, 'x');
     DELETE FROM "o""dd" WHERE "a b" = 1;
     CREATE TABLE "-append" (key TEXT PRIMARY KEY, rowid TEXT) WITHOUT ROWID; INSERT INTO "-append" VALUES ('k', 'r');
     CREATE VIEW large AS WITH n AS (SELECT ogc_fid AS i FROM pois) SELECT 5000000000 + i AS osm_id, upper('x') AS x FROM n`,
  )
  const odd = await read(path, { layer: 'o"dd' })
  assert.deepEqual([odd.rows, odd.features[0]!.id], [[{ 'a b': 5000000000, "it's": 'x' }], 2])
  const bare = await read(path, { layer: '-append' })
  assert.deepEqual([bare.rows, bare.features[0]!.id], [[{ key: 'k', rowid: 'r' }], 0])
  const view = await read(path, { layer: 'LARGE' })
  assert.deepEqual(view.rows[2], { osm_id: 5000000003, x: 'X' })
  assert.deepEqual(
    view.features.map(({ id }) => id),
    [0, 1, 2],
  )
  await refused(path, /^pois\.sqlite has no layer rivers; it has pois\.$/, { layer: 'rivers' })
})

test('views that SpatiaLite lists are layers, with the ids of their column', async (t) => {
  const path = spatialite(
    t,
    `CREATE VIEW seen AS SELECT ogc_fid AS number, name, geometry AS place FROM pois WHERE name <> 'b';
     INSERT INTO views_geometry_columns VALUES ('seen', 'place', 'number', 'pois', 'geometry', 1)`,
  )
  await refused(path, /has 2 layers: pois, seen\. Choose one/)
  const { features, rows } = await read(path, { layer: 'seen' })
  assert.deepEqual(rows, [{ name: 'a' }, { name: 'c' }])
  assertSameGeometries(features, gdalFeatures(path, 'seen'))
  assert.deepEqual(
    features.map(({ id }) => id),
    [1, 3],
  )
})

test('the older layout of geometry_columns is read, and a second geometry becomes WKT', async (t) => {
  const path = spatialite(
    t,
    `CREATE TABLE old (f_table_name TEXT, f_geometry_column TEXT, type TEXT, coord_dimension TEXT, srid INTEGER,
       spatial_index_enabled INTEGER);
     INSERT INTO old VALUES ('pois', 'geometry', 'POINT', 'XY', 31467, 0), ('pois', 'centre', 'POINT', 'XY', 31467, 0);
     DROP TABLE geometry_columns; ALTER TABLE old RENAME TO geometry_columns;
     DROP TABLE spatial_ref_sys;
     CREATE TABLE spatial_ref_sys (srid INTEGER PRIMARY KEY, auth_name TEXT, auth_srid INTEGER, srs_wkt TEXT);
     INSERT INTO spatial_ref_sys VALUES (31467, 'own', 1, 'PROJCS["x"]');
     ALTER TABLE pois ADD COLUMN centre POINT; UPDATE pois SET centre = geometry WHERE name = 'a'`,
    '-lco',
    'FORMAT=SPATIALITE',
  )
  const { rows, stream, features } = await read(path)
  assert.deepEqual(rows[0], { name: 'a', centre: 'POINT (1 50)' })
  assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [1, 50] })
  assert.equal(stream.crs, 'PROJCS["x"]')
  assert.match(stream.notes[0]!, /^Column centre is another geometry/)
})

test('columns that GDAL compressed are decompressed, up to the limits', async (t) => {
  const path = spatialite(t, '', ...SPATIALITE, '-lco', 'COMPRESS_COLUMNS=name')
  assert.deepEqual((await read(path)).rows, [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  const { deflateSync } = await import('node:zlib')
  const bomb = deflateSync(Buffer.alloc(30 << 20, 'x')).toString('hex')
  await refused(changed(path, `UPDATE pois SET name = x'${bomb}'`), /holds more than 64 MB of values/)
  await refused(path, /A compressed value is larger than 1 MB/, { limits: { rowBytes: 1 << 20 } })
})
