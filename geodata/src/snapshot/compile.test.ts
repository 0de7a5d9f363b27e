import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import type { Feature, FeatureStream, Geometry, SourceColumn, Value } from '../feature.ts'
import { geometryBbox, isEmptyBbox } from '../geometry/bbox.ts'
import { hilbertKey } from '../hilbert.ts'
import { SourceError } from '../source-error.ts'
import { type CompileOptions, compileSnapshot } from './compile.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { jsonText } from './json-text.ts'
import { openSnapshot } from './open.ts'
import { PackCache } from './pack-cache.ts'
import { validGeometryArbitrary } from './valid-geometry-arbitrary.ts'
import { verifySnapshot } from './verify.ts'

const scratch = await mkdtemp(join(tmpdir(), 'compile-test-'))
after(() => rm(scratch, { recursive: true, force: true }))
let serial = 0

async function compileText(text: string, options: Partial<CompileOptions> = {}) {
  const path = join(scratch, `${++serial}.geojson`)
  await writeFile(path, text)
  const folder = join(scratch, String(serial))
  const compiled = await compileSnapshot({ path, folder, threads: 1, ...options })
  return { ...compiled, folder, features: await readFeatures(folder) }
}

async function readFeatures(folder: string): Promise<GeojsonFeature[]> {
  return JSON.parse(`[${await readFile(join(folder, 'features.pack'), 'utf8')}]`)
}

interface GeojsonFeature {
  id: string | number
  geometry: Geometry | null
  properties: { [name: string]: unknown }
}

function collection(features: unknown[]): string {
  return JSON.stringify({ type: 'FeatureCollection', features })
}

function feature(properties: unknown, geometry: unknown = null, id?: unknown): unknown {
  return { type: 'Feature', id, properties, geometry }
}

async function query(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    return (await connection.runAndReadAll(sql)).getRowsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

async function typesOf(values: unknown[]): Promise<string> {
  const { manifest } = await compileText(collection(values.map((value) => feature({ v: value }))))
  return manifest.columns[0]!.type
}

test('reading back what was compiled gives the source', async () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  )
  const nested = fc.jsonValue({ maxDepth: 2 })
  const bigInteger = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })
  const row = fc.record({
    geometry: fc.option(validGeometryArbitrary(), { freq: 4 }),
    properties: fc.record(
      {
        name: fc.string({ unit: 'binary' }),
        count: fc.integer(),
        big: bigInteger,
        ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
        nested,
        mixed: scalar,
        flag: fc.boolean(),
        day: fc
          .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
          .map((date) => date.toISOString().slice(0, 10)),
        moment: fc
          .date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true })
          .map((date) => date.toISOString()),
        '"odd"\'s\\ näme': fc.integer(),
      },
      { requiredKeys: [] },
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const text = `{"type":"FeatureCollection","features":[${rows
        .map(({ geometry, properties }) => {
          return `{"type":"Feature","geometry":${JSON.stringify(geometry)},"properties":${jsonText(properties as Value)}}`
        })
        .join(',')}]}`
      const { manifest, features, folder } = await compileText(text)
      assert.equal(manifest.rows, rows.length)
      const types = new Map(manifest.columns.map((column) => [column.name, column.type]))
      const packText = await readFile(join(folder, 'features.pack'), 'utf8')
      const lines = packText === '' ? [] : packText.split(',\n')
      for (const [position, found] of features.entries()) {
        const source = rows[Number(found.id) - 1]!
        assert.deepEqual(found.geometry, source.geometry)
        const expected = [...types].map(([name, type]) => {
          const value = (source.properties as { [name: string]: unknown })[name]
          return `${JSON.stringify(name)}:${expectedText(value, type)}`
        })
        const properties = lines[position]!.slice(lines[position]!.indexOf('"properties":') + 13, -1)
        assert.deepEqual(normal(properties), normal(`{${expected.join(',')}}`))
      }
      assert.deepEqual(new Set(features.map((found) => found.id)).size, rows.length)
      assert.deepEqual(await verifySnapshot(folder), [])
      const [count] = await query(`SELECT count(*) FROM '${folder}/rows.parquet'`)
      assert.equal(Number(count![0]), rows.length)
    }),
    { numRuns: 25 },
  )
})

/** Text in which numbers are spelt as JavaScript spells them, unless they are integers beyond doubles. */
function normal(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"')) return JSON.stringify(JSON.parse(token))
    return /^-?\d+$/.test(token) ? BigInt(token).toString() : String(Number(token))
  })
}

function expectedText(value: unknown, type: string): string {
  if (value === undefined || value === null) return 'null'
  if (type === 'timestamp') {
    const trimmed = (value as string).replace(/\.(\d*?)0+Z$/, (_, kept) => (kept === '' ? 'Z' : `.${kept}Z`))
    return JSON.stringify(trimmed)
  }
  if (type === 'text' && typeof value !== 'string') {
    return JSON.stringify(normal(jsonText(value as Value)))
  }
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed())
  return jsonText(value as Value)
}

test('features stand in Hilbert order, ties in source order, those without a place last', async () => {
  const place = fc.constantFrom<Geometry | null>(
    { type: 'Point', coordinates: [13.4, 52.5] },
    { type: 'Point', coordinates: [-70, -33] },
    { type: 'Point', coordinates: [] },
    {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    },
    null,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 60 }), async (places) => {
      const { features, folder, manifest } = await compileText(collection(places.map((p) => feature({}, p))))
      const key = (geometry: Geometry | null) => {
        const box = geometry === null ? null : geometryBbox(geometry)
        if (box === null || isEmptyBbox(box)) return Infinity
        return hilbertKey((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
      }
      const expected = places
        .map((geometry, i) => ({ row: i + 1, key: key(geometry) }))
        .sort((a, b) => (a.key === b.key ? a.row - b.row : a.key < b.key ? -1 : 1))
      assert.deepEqual(
        features.map((found) => found.id),
        expected.map(({ row }) => row),
      )
      const snapshot = await openSnapshot(folder)
      const located = expected.filter((each) => each.key !== Infinity)
      assert.equal(manifest.located, located.length)
      assert.equal(snapshot.tree.count, located.length)
      for (const [leaf, { row }] of located.entries())
        assert.deepEqual(snapshot.tree.box(leaf), geometryBbox(places[row - 1]!))
      await snapshot.close()
    }),
    { numRuns: 15 },
  )
})

test('rows.parquet holds the columns with their types, then the geometry as WKB', async () => {
  const { folder } = await compileText(
    collection([
      feature(
        {
          n: 1,
          big: 1,
          x: 0.5,
          t: 'ä',
          d: '2020-02-29',
          at: '2020-01-02T03:04:05+02:00',
          ok: true,
          j: { a: [1] },
        },
        { type: 'Point', coordinates: [1, 2, 3] },
      ),
    ]).replace('"big":1', '"big":123456789012345678901234567890'),
  )
  const schema = await query(`DESCRIBE FROM '${folder}/rows.parquet'`)
  assert.deepEqual(
    schema.map((row) => row.slice(0, 2).join(' ')),
    [
      'n BIGINT',
      'big DECIMAL(38,0)',
      'x DOUBLE',
      't VARCHAR',
      'd DATE',
      'at TIMESTAMP WITH TIME ZONE',
      'ok BOOLEAN',
      'j JSON',
      `geometry GEOMETRY('OGC:CRS84')`,
    ],
  )
  const [row] = await query(
    `SELECT n, big::VARCHAR, x, t, d::VARCHAR, "at"::VARCHAR, ok, j::VARCHAR, ST_AsText(geometry) FROM '${folder}/rows.parquet'`,
  )
  assert.deepEqual(row, [
    '1',
    '123456789012345678901234567890',
    0.5,
    'ä',
    '2020-02-29',
    '2020-01-02 01:04:05+00',
    true,
    '{"a":[1]}',
    'POINT Z (1 2 3)',
  ])
})

test('a type holds every value of its column without damage', async () => {
  assert.equal(await typesOf([1, null, 2]), 'integer')
  assert.equal(await typesOf([1, 2.5]), 'number')
  assert.equal(await typesOf([1e17, 2.5]), 'number')
  assert.equal(await typesOf([true, null]), 'boolean')
  assert.equal(await typesOf([null]), 'text')
  assert.equal(await typesOf([1, 'a']), 'text')
  assert.equal(await typesOf([1, { a: 1 }]), 'json')
  assert.equal(await typesOf([[1], 'a']), 'json')
  assert.equal(await typesOf(['2020-02-29', '1999-12-31']), 'date')
  assert.equal(await typesOf(['2021-02-29']), 'text')
  assert.equal(await typesOf(['2020-01-01T00:00:00Z', '2020-01-01T10:00+05:30']), 'timestamp')
  assert.equal(await typesOf(['2020-01-01', '2020-01-01T00:00:00Z']), 'text')
  assert.equal(await typesOf(['2020-01-01T00:00:00.1234567Z']), 'text')
  assert.equal(await typesOf(['007', '12']), 'text')
})

test('columns that several rows fill differently keep each value', async () => {
  const { features } = await compileText(
    collection([feature({ v: 1 }), feature({ v: 'x' }), feature({ v: true })]),
  )
  assert.deepEqual(
    features.map((found) => found.properties['v']),
    ['1', 'x', 'true'],
  )
  const nested = await compileText(collection([feature({ v: 1 }), feature({ v: 'x' }), feature({ v: [2] })]))
  assert.deepEqual(
    nested.features.map((found) => found.properties['v']),
    [1, 'x', [2]],
  )
})

test('integers beyond 2^53 survive, alone, among others and nested', async () => {
  const text = collection([feature({ a: 0, b: 'B', c: { d: 0 } })])
    .replace('"a":0', '"a":9007199254740993')
    .replace('"B"', '123456789012345678901234567890123456789012345')
    .replace('"d":0', '"d":-18446744073709551617')
  const { folder, manifest } = await compileText(text)
  assert.deepEqual(
    manifest.columns.map((column) => column.type),
    ['integer', 'text', 'json'],
  )
  const pack = await readFile(join(folder, 'features.pack'), 'utf8')
  assert.match(pack, /"a":9007199254740993,/)
  assert.match(pack, /"b":"123456789012345678901234567890123456789012345",/)
  assert.match(pack, /"d":-18446744073709551617/)
})

test('column names are made usable and unique, and the report says so', async () => {
  const point = { type: 'Point', coordinates: [1, 2] }
  const { manifest } = await compileText(
    collection([feature({ Name: 1, name: 2, name_1: 3, '': 4, longitude: 5, Geometry: 6, id: 7 }, point)]),
  )
  assert.deepEqual(
    manifest.columns.map((column) => column.name),
    ['Name', 'name_2', 'name_1', 'column_4', 'longitude_1', 'Geometry_1', 'id'],
  )
  assert.equal(manifest.notes.length, 4)
})

test('ids are the named column, else the source’s own where unique, else row numbers', async () => {
  const place = (i: number) => ({ type: 'Point', coordinates: [i, i] })
  const rows = ['b', 'a', 'c'].map((code, i) => feature({ code, n: i }, place(i), i + 10))
  const own = await compileText(collection(rows))
  assert.deepEqual(new Set(own.features.map((found) => found.id)), new Set([10, 11, 12]))
  assert.deepEqual(own.manifest.id, { column: null, type: 'integer' })
  const named = await compileText(collection(rows), { idColumn: 'code' })
  assert.deepEqual(named.manifest.id, { column: 'code', type: 'text' })
  const snapshot = await openSnapshot(named.folder, new PackCache(1 << 20))
  for (const [position, found] of named.features.entries())
    assert.equal(await snapshot.findById(String(found.id)), position)
  assert.equal(await snapshot.findById('d'), -1)
  await snapshot.close()
  const repeated = await compileText(collection([feature({}, null, 'a'), feature({}, null, 'a')]))
  assert.deepEqual(
    repeated.features.map((found) => found.id),
    [1, 2],
  )
  const mixed = await compileText(collection([feature({}, null, 1), feature({}, null, 'a')]))
  assert.deepEqual(
    mixed.features.map((found) => found.id),
    ['1', 'a'],
  )
  await assert.rejects(
    compileText(collection(rows), { idColumn: 'none' }),
    /no column "none". It has code, n/,
  )
})

test('an id column must be filled and unique: its rows are problems, or are skipped', async () => {
  const rows = [1, 2, null, 2, 3].map((code, i) =>
    feature({ code }, { type: 'Point', coordinates: [i * 10, 0] }),
  )
  const error = await compileText(collection(rows), { idColumn: 'code' }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.equal(error.problemCount, 2)
  assert.deepEqual(
    error.problems.map(({ row }) => row),
    [3, 4],
  )
  const { manifest, report, features } = await compileText(collection(rows), {
    idColumn: 'code',
    skipInvalid: true,
  })
  assert.equal(manifest.rows, 3)
  assert.equal(report.skipped, 2)
  assert.deepEqual(manifest.bbox, [0, 0, 40, 0])
  assert.deepEqual(new Set(features.map((found) => found.id)), new Set([1, 2, 3]))
})

test('invalid rows stop publishing with the first ten problems and their count, and leave nothing', async () => {
  const bad = Array.from({ length: 12 }, () => feature({}, { type: 'Point', coordinates: [500, 0] }))
  const path = join(scratch, 'bad.geojson')
  await writeFile(path, collection([feature({}), ...bad]))
  const folder = join(scratch, 'bad')
  const error = await compileSnapshot({ path, folder }).catch((thrown) => thrown)
  assert.ok(error instanceof InvalidSourceError)
  assert.equal(error.problemCount, 12)
  assert.deepEqual(
    error.problems.map(({ row }) => row),
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  )
  assert.match(error.message, /^bad\.geojson has 12 rows that cannot be published\. Row 2: longitude 500/)
  await assert.rejects(readdir(folder))
  const { report } = await compileSnapshot({ path, folder, skipInvalid: true })
  assert.equal(report.rows, 1)
  assert.equal(report.skipped, 12)
  assert.equal(report.problems.length, 10)
})

test('more rows or columns than allowed are refused in a sentence', async () => {
  const rows = collection([feature({ a: 1, b: 2 }), feature({})])
  await assert.rejects(compileText(rows, { limits: { rows: 1 } }), /has more than 1 rows/)
  await assert.rejects(compileText(rows, { limits: { columns: 1 } }), /has more than 1 columns/)
})

test('the time column is the first of dates or timestamps unless another is named', async () => {
  const rows = collection([feature({ a: 1, d: '2020-01-01', t: '2020-01-01T00:00:00Z' })])
  assert.equal((await compileText(rows)).manifest.timeColumn, 'd')
  assert.equal((await compileText(rows, { timeColumn: 't' })).manifest.timeColumn, 't')
  await assert.rejects(compileText(rows, { timeColumn: 'a' }), SourceError)
})

test('a table without geometry keeps its order and its strings decide the types', async () => {
  const columns: SourceColumn[] = ['n', 'x', 'zip', 'ok', 'day', 'phone'].map((name) => ({
    name,
    type: 'infer-text',
  }))
  const rows = [
    ['2', '1.50', '01234', 'TRUE', '2020-01-01', '+49301'],
    ['', '-2e3', '99999', '', '', ''],
    ['9007199254740993', '.5', '1', 'false', '2021-12-31', '030'],
  ]
  const stream: FeatureStream = {
    columns,
    spatial: false,
    crs: null,
    bytesRead: 0,
    totalBytes: null,
    notes: ['From a test.'],
    async *batches() {
      yield rows.map((values, i): Feature => ({ id: null, values, geometry: null, row: i + 1 }))
    },
  }
  const folder = join(scratch, 'table')
  const { manifest } = await compileSnapshot({ path: 'table.csv', folder }, undefined, undefined, {
    stream,
    format: 'csv',
    bytes: 9,
  })
  assert.deepEqual(
    manifest.columns.map((column) => column.type),
    ['integer', 'number', 'text', 'boolean', 'date', 'text'],
  )
  assert.equal(manifest.geometryType, null)
  assert.deepEqual(manifest.notes, ['From a test.'])
  const pack = await readFile(join(folder, 'features.pack'), 'utf8')
  assert.deepEqual(pack.split(',\n'), [
    '{"type":"Feature","id":1,"geometry":null,"properties":{"n":2,"x":1.5,"zip":"01234","ok":true,"day":"2020-01-01","phone":"+49301"}}',
    '{"type":"Feature","id":2,"geometry":null,"properties":{"n":null,"x":-2000,"zip":"99999","ok":null,"day":null,"phone":""}}',
    '{"type":"Feature","id":3,"geometry":null,"properties":{"n":9007199254740993,"x":0.5,"zip":"1","ok":false,"day":"2021-12-31","phone":"030"}}',
  ])
  const [first] = await query(`SELECT n, zip FROM '${folder}/rows.parquet' WHERE file_row_number = 2`)
  assert.deepEqual(first, ['9007199254740993', '1'])
  assert.ok(!(await readdir(folder)).includes('points.parquet'))
})

test('a source without rows makes a snapshot without rows', async () => {
  const { manifest, folder } = await compileText('{"type":"FeatureCollection","features":[]}')
  assert.equal(manifest.rows, 0)
  const snapshot = await openSnapshot(folder)
  assert.equal(snapshot.tree.search([-180, -90, 180, 90], -1, new Uint32Array(1)), 0)
  assert.equal(await snapshot.findById('1'), -1)
  await snapshot.close()
})

test('the sample is at most a tenth of the rows and carries coordinates', async () => {
  const rows = Array.from({ length: 50 }, (_, i) => feature({ i }, { type: 'Point', coordinates: [i, -i] }))
  const { folder } = await compileText(collection(rows))
  const sample = JSON.parse(await readFile(join(folder, 'sample.json'), 'utf8'))
  assert.equal(sample.length, 5)
  for (const row of sample) assert.deepEqual(row, { i: row.i, longitude: row.i, latitude: 0 - row.i })
})

test('coordinates in another CRS are transformed to WGS84', async () => {
  const text = JSON.stringify({
    type: 'FeatureCollection',
    crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } },
    features: [feature({}, { type: 'Point', coordinates: [1492232.65, 6894701.26] })],
  })
  const { features, manifest } = await compileText(text)
  const [x, y] = (features[0]!.geometry as { coordinates: number[] }).coordinates as [number, number]
  assert.ok(Math.abs(x - 13.40494) < 1e-4 && Math.abs(y - 52.52) < 1e-3, `${x} ${y}`)
  assert.equal(manifest.source.crs, 'urn:ogc:def:crs:EPSG::3857')
  await assert.rejects(compileText(text, { crs: 'OGC:CRS84' }), /projected coordinates\? Then name their CRS/)
})
