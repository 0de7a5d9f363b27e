import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../../compile/compile.ts'
import { crsCode, transformerToWgs84 } from '../../crs.ts'
import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  readAll,
  scratch,
  written,
} from '../reading.test-kit.ts'
import { openParquet } from './parquet.ts'

const read = (path: string, options = {}) => readAll(openParquet(path, basename(path), options))
const refusal = (path: string, message: RegExp, options = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

/** A Parquet file that DuckDB writes from a query. */
async function parquet(folder: string, query: string): Promise<string> {
  const path = join(folder, 'made.parquet')
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  instance.closeSync()
  return path
}

/** Importing geopandas takes seconds, so one run writes all files for the tests below. */
const WRITE = `
import decimal, json, os, sys, geopandas, pyarrow, pyarrow.parquet, shapely
for job in json.loads(sys.argv[1]):
    frame = geopandas.read_file(job['source'])
    if 'crs' in job:
        frame = frame.set_crs(job['crs'], allow_override=True)
    if 'second' in job:
        frame['centre'] = frame.geometry.representative_point()
        frame.loc[len(frame)] = {'geometry': shapely.Point(), 'centre': None}
    frame.to_parquet(job['path'], geometry_encoding=job.get('encoding', 'WKB'), write_covering_bbox='second' in job)
text = lambda value: None if value is None else decimal.Decimal(value)
for name, codec in [('decimals', 'snappy'), ('zstd', 'zstd'), ('lz4', 'lz4')]:
    pyarrow.parquet.write_table(pyarrow.table({
        'n': [1, 2, 3],
        'amount': pyarrow.array([text('1.00'), text('-0.05'), None], pyarrow.decimal256(40, 2)),
        'count': pyarrow.array([text('1'), text('-' + '7' * 60), None], pyarrow.decimal256(76, 0)),
        'nested': pyarrow.array([[text('1.00')], None, []], pyarrow.list_(pyarrow.decimal256(40, 2))),
    }), os.path.join(sys.argv[2], name + '.parquet'), compression=codec)
for name, names in [('case', ['a', 'A', 'A_1', 'a_1']), ('twice', ['x', 'x', 'x_1'])]:
    pyarrow.parquet.write_table(pyarrow.table([[n] for n in range(len(names))], names=names),
        os.path.join(sys.argv[2], name + '.parquet'))
fine = [1700000000123456789, -1, None]
whole = [1700000000123456000, -1000, None]
for codec in ['snappy', 'lz4']:
    pyarrow.parquet.write_table(pyarrow.table({
        'fine': pyarrow.array(fine, pyarrow.timestamp('ns', tz='UTC')),
        'whole': pyarrow.array(whole, pyarrow.timestamp('ns', tz='Europe/Berlin')),
        'local': pyarrow.array(fine, pyarrow.timestamp('ns')),
    }), os.path.join(sys.argv[2], 'times-' + codec + '.parquet'), compression=codec)
point = json.dumps({'primary_column': 'GEOM', 'columns': {'GEOM': {'encoding': 'WKB'}, 'geom': {'encoding': 'WKB'}}})
pyarrow.parquet.write_table(
    pyarrow.table([[shapely.Point(9, 9).wkb], [shapely.Point(1, 2).wkb]], names=['geom', 'GEOM'])
    .replace_schema_metadata({'geo': point}), os.path.join(sys.argv[2], 'geometries.parquet'))
`
const COUNTIES = '/usr/lib/R/site-library/sf/gpkg/nc.gpkg'
const POINTS = [
  [1, 2, 3],
  [4, 5, 6],
].map((coordinates) => ({ type: 'Point', coordinates }))

test('GeoParquet that geopandas writes says the same as its source, with WKB and natively', {
  skip: lacks('python'),
}, async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  assert.ok(python, 'WAYLEAVE_TEST_PYTHON must name a Python with geopandas; npm test sets it.')
  const folder = scratch(t)
  const points = join(folder, 'points.geojson')
  const features = POINTS.map((geometry) => ({ type: 'Feature', properties: { a: 1 }, geometry }))
  writeFileSync(points, JSON.stringify({ type: 'FeatureCollection', features }))
  const path = (name: string) => join(folder, `${name}.parquet`)
  const jobs = [
    { source: COUNTIES, path: path('wkb') },
    { source: COUNTIES, path: path('native'), encoding: 'geoarrow' },
    { source: points, path: path('points'), encoding: 'geoarrow' },
    { source: points, path: path('utm'), crs: 'EPSG:25832' },
    { source: points, path: path('own'), crs: '+proj=tmerc +lon_0=9.5 +ellps=GRS80' },
    { source: points, path: path('second'), second: true },
    { source: points, path: path('second-native'), encoding: 'geoarrow', second: true },
  ]
  execFileSync(python, ['-c', WRITE, JSON.stringify(jobs), folder], { stdio: ['ignore', 'pipe', 'pipe'] })

  await t.test('polygons', async () => {
    const theirs = gdalFeatures(COUNTIES)
    for (const name of ['wkb', 'native']) {
      const { features, rows, stream, unreadable } = await read(path(name))
      assert.deepEqual(unreadable, [])
      assertSameGeometries(features, theirs)
      assertSameRows(rows, theirs)
      assert.equal(crsCode(stream.crs!), 'EPSG:4267')
      assert.equal(stream.bytesRead, stream.totalBytes)
    }
  })

  await t.test('points with heights', async () => {
    const { features, stream } = await read(path('points'))
    assert.deepEqual(
      features.map(({ geometry }) => geometry),
      POINTS,
    )
    assert.equal(transformerToWgs84(stream.crs!), null)
  })

  await t.test(
    'another geometry becomes WKT, covering boxes are left out, an empty point is one',
    async () => {
      for (const name of ['second', 'second-native']) {
        const { features, rows, stream } = await read(path(name))
        assert.deepEqual(
          rows.map(({ centre }) => centre),
          ['POINT (1 2)', 'POINT (4 5)', null],
        )
        assert.deepEqual(Object.keys(rows[0]!), ['a', 'centre'])
        assert.deepEqual(features[2]!.geometry, { type: 'Point', coordinates: [] })
        assert.deepEqual(stream.notes, [
          'Column centre is another geometry: it is kept as WKT text, with the coordinates that it has in the file.',
          'Column bbox holds the bounding boxes of the geometries: it is left out.',
        ])
      }
    },
  )

  await t.test('decimals of more than 38 digits are exact', async () => {
    for (const name of ['decimals', 'zstd']) {
      const { rows, stream } = await read(path(name))
      assert.deepEqual(rows, [
        { n: 1, amount: '1.00', count: 1 },
        { n: 2, amount: '-0.05', count: -BigInt('7'.repeat(60)) },
        { n: 3, amount: null, count: null },
      ])
      assert.match(stream.notes[0]!, /^Column amount has decimals of 40 digits, .* kept as text\.$/)
      assert.match(stream.notes[1]!, /^Column nested has decimals of more than 38 digits .* left out\.$/)
    }
    await refusal(path('lz4'), /^lz4.parquet has decimals of more than 38 digits that cannot be read: .*LZ4/)
  })

  await t.test('times with a zone keep their nanoseconds, as text', async () => {
    const { stream, rows } = await read(path('times-snappy'))
    assert.deepEqual(
      rows.map(({ fine }) => fine),
      ['2023-11-14T22:13:20.123456789Z', '1969-12-31T23:59:59.999999999Z', null],
    )
    assert.deepEqual(
      rows.map(({ whole }) => whole),
      ['2023-11-14 22:13:20.123456+00', '1969-12-31 23:59:59.999999+00', null],
    )
    assert.deepEqual(stream.notes, [])
    const { manifest } = await compileSnapshot({ path: path('times-snappy'), folder: join(folder, 'times') })
    assert.deepEqual(
      manifest.columns.map(({ name, type }) => [name, type]),
      [
        ['fine', 'text'],
        ['whole', 'timestamp'],
        ['local', 'text'],
      ],
    )
    assert.deepEqual(
      manifest.notes,
      ['fine', 'local'].map(
        (name) =>
          `Column ${name} has values that are not times or that a column of times cannot hold, such as nanoseconds or years beyond 9999: it is published as text.`,
      ),
    )
    const other = await read(path('times-lz4'))
    assert.equal(other.rows[0]!['fine'], '2023-11-14 22:13:20.123456+00')
    assert.match(other.stream.notes[0]!, /^Column fine has times in nanoseconds, .* cut to microseconds/)
  })

  await t.test(
    'columns have their names in the file, also those that a database cannot tell apart',
    async () => {
      const table = async (name: string) => {
        const { stream, features } = await read(path(name))
        return [stream.columns.map((column) => column.name), features[0]!.values]
      }
      assert.deepEqual(await table('case'), [
        ['a', 'A', 'A_1', 'a_1'],
        [0, 1, 2, 3],
      ])
      assert.deepEqual(await table('twice'), [
        ['x', 'x', 'x_1'],
        [0, 1, 2],
      ])
      const { features, rows } = await read(path('geometries'))
      assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [1, 2] })
      assert.deepEqual(rows, [{ geom: 'POINT (9 9)' }])
      const { manifest } = await compileSnapshot({ path: path('case'), folder: join(folder, 'snapshot') })
      assert.deepEqual(
        manifest.columns.map((column) => column.name),
        ['a', 'A_2', 'A_1', 'a_1_1'],
      )
      assert.deepEqual(manifest.notes, ['Column 2, "A", is named A_2.', 'Column 4, "a_1", is named a_1_1.'])
    },
  )

  await t.test('the CRS, by code or in full', async () => {
    assert.equal(crsCode((await read(path('utm'))).stream.crs!), 'EPSG:25832')
    const { stream } = await read(path('own'))
    assert.equal(crsCode(stream.crs!), null)
    assert.ok(Math.abs(transformerToWgs84(stream.crs!)!([0, 0])[0]! - 9.5) < 1e-9)
  })
})

test('every type of column keeps its values', async (t) => {
  const path = await parquet(
    scratch(t),
    `
    SELECT 9007199254740993::BIGINT AS big, 18446744073709551615::UBIGINT AS unsigned, 7::TINYINT AS small,
      1.25::DECIMAL(9,2) AS price, 12345678901234567890.123456789::DECIMAL(38,9) AS exact, 5::DECIMAL(20,0) AS whole,
      1.5::DOUBLE AS real, 0.5::FLOAT AS single, 'NaN'::DOUBLE AS nan, 'ž' AS text, true AS yes,
      DATE '2020-02-29' AS day, TIMESTAMP '2020-02-29 12:00:00.5' AS local,
      TIMESTAMPTZ '2020-02-29 12:00:00+02' AS moment, TIME '10:11:12' AS hour, '\\x00\\xFF'::BLOB AS bytes,
      [1, 9007199254740993] AS list, {'a': 1, 'b': ['x']} AS struct, MAP {'k': 1} AS map, NULL::VARCHAR AS missing`,
  )
  const { stream, rows } = await read(path)
  assert.deepEqual(rows, [
    {
      big: 9007199254740993n,
      unsigned: 18446744073709551615n,
      small: 7,
      price: 1.25,
      exact: '12345678901234567890.123456789',
      whole: 5,
      real: 1.5,
      single: 0.5,
      nan: Number.NaN,
      text: 'ž',
      yes: true,
      day: '2020-02-29',
      local: '2020-02-29 12:00:00.5',
      moment: '2020-02-29 10:00:00+00',
      hour: '10:11:12',
      bytes: 'AP8=',
      list: [1, 9007199254740993n],
      struct: { a: 1, b: ['x'] },
      map: { k: 1 },
      missing: null,
    },
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    [
      'integer',
      'integer',
      'integer',
      'number',
      'text',
      'integer',
      'number',
      'number',
      'number',
      'text',
      'boolean',
      'date',
      'timestamp',
      'timestamp',
      'text',
      'text',
      'json',
      'json',
      'json',
      'text',
    ],
  )
  assert.equal(stream.spatial, false)
  assert.match(stream.notes[0]!, /Column exact has decimals of 38 digits/)
})

test('a byte order mark at the start of a text is part of it', async (t) => {
  const path = await parquet(
    scratch(t),
    `SELECT unnest([chr(65279) || 'x', 'y' || chr(65279), chr(65279), chr(65279) || chr(65279), '', NULL]) AS a`,
  )
  const { rows } = await read(path)
  assert.deepEqual(
    rows.map(({ a }) => a),
    ['\ufeffx', 'y\ufeff', '\ufeff', '\ufeff\ufeff', '', null],
  )
})

test('rows keep their order over many chunks, with geometries, missing and broken ones', async (t) => {
  const path = await parquet(
    scratch(t),
    `
    SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE ('POINT(' || i || ' 2)')::GEOMETRY END AS geom FROM range(300000) r(i)`,
  )
  const { features, stream } = await read(path)
  assert.equal(stream.crs, 'OGC:CRS84')
  assert.equal(features.length, 300000)
  assert.ok(features.every(({ values, row }, i) => values[0] === i && row === i + 1))
  assert.deepEqual(
    features.slice(0, 2).map(({ geometry }) => geometry),
    [null, { type: 'Point', coordinates: [1, 2] }],
  )
  const broken = await parquet(scratch(t), `SELECT unnest(['\\x01\\x01'::BLOB, NULL]) AS geometry`)
  const found = await read(broken)
  assert.deepEqual(found.unreadable, [{ row: 1, problem: 'the geometry ends too early' }])
  assert.equal(found.features.length, 1)
})

test('a plain table with longitude and latitude, or WKT, becomes spatial', async (t) => {
  const pair = await read(await parquet(scratch(t), `SELECT 'a' AS name, 52.5 AS lat, 13.25::DOUBLE AS lon`))
  assert.deepEqual(pair.features[0]!.geometry, { type: 'Point', coordinates: [13.25, 52.5] })
  assert.deepEqual(pair.rows, [{ name: 'a' }])
  assert.deepEqual([pair.stream.spatial, pair.stream.crs], [true, 'OGC:CRS84'])
  const wkt = await read(await parquet(scratch(t), `SELECT 1 AS a, 'POINT(1 2)' AS wkt`))
  assert.deepEqual(wkt.features[0]!.geometry, { type: 'Point', coordinates: [1, 2] })
})

test('truncated, damaged and too wide files are refused with a sentence that names no path', async (t) => {
  const whole = readFileSync(await parquet(scratch(t), `SELECT i, 'text ' || i AS t FROM range(10000) r(i)`))
  await refusal(
    written(t, 'cut.parquet', whole.subarray(0, whole.length - 100)),
    /^cut\.parquet ends too early/,
  )
  await refusal(written(t, 'cut.parquet', whole.subarray(0, 4)), /^cut\.parquet ends too early/)
  const broken = Buffer.from(whole)
  broken.fill(0x5a, 100, 2000)
  await refusal(written(t, 'bad.parquet', broken), /^bad\.parquet cannot be read: (?!.*\/formats-)/)
  const footer = Buffer.from(whole)
  footer.writeUInt32LE(2 ** 31, footer.length - 8)
  await refusal(written(t, 'bad.parquet', footer), /^bad\.parquet cannot be read: (?!.*\/formats-)/)
  const wide = await parquet(scratch(t), `SELECT 1 AS a, 2 AS b, 3 AS c`)
  await refusal(wide, /^made\.parquet has 3 columns; at most 2 are read\.$/, {
    limits: { ...DEFAULT_LIMITS, columns: 2 },
  })
})
