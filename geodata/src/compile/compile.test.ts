import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../scripts/test-run/needs.ts'
import type { Geometry, Value } from '../feature.ts'
import { geometryBbox, isEmptyBbox } from '../geometry/bbox.ts'
import { hilbertKey } from '../hilbert.ts'
import { PackCache } from '../pack/pack-cache.ts'
import { openSnapshot } from '../snapshot/open.ts'
import { verifySnapshot } from '../snapshot/verify.ts'
import { compileSnapshot } from './compile.ts'
import { collection, compileText, feature, query, scratch } from './compile-fixture.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { validGeometryArbitrary } from './valid-geometry-arbitrary.ts'
import { jsonText } from './values/json-text.ts'

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
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 80 }), async (rows) => {
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
    { numRuns: cases(12) },
  )
})

/** JSON text with numbers formatted as JavaScript does, except integers beyond the range of doubles. */
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

test('features are in Hilbert order, ties in source order, those without geometry last', async () => {
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
    { numRuns: cases(8) },
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

test('only a dataset with other geometries than points has a file of points', async () => {
  const point = { type: 'Point', coordinates: [1, 2] } as const
  const several = { type: 'MultiPoint', coordinates: [[3, 4]] } as const
  for (const [geometries, hasFile] of [
    [[point, null], false],
    [[null], false],
    [[point, several], true],
    [[several], true],
  ] as const) {
    const { folder, manifest } = await compileText(
      collection(geometries.map((geometry) => feature({ a: 1 }, geometry))),
    )
    assert.equal((await readdir(folder)).includes('points.parquet'), hasFile, JSON.stringify(geometries))
    assert.equal('points.parquet' in manifest.files, hasFile)
  }
})

test('ids are the named column, else the source’s own where unique, else row numbers', async () => {
  const place = (i: number) => ({ type: 'Point', coordinates: [i, i] })
  const rows = ['b', 'a', 'c'].map((code, i) => feature({ code, n: i }, place(i), i + 10))
  const own = await compileText(collection(rows))
  assert.deepEqual(new Set(own.features.map((found) => found.id)), new Set([10, 11, 12]))
  assert.deepEqual(own.manifest.id, { column: null, type: 'integer', name: 'id', isRowNumber: false })
  const named = await compileText(collection(rows), { idColumn: 'code' })
  assert.deepEqual(named.manifest.id, { column: 'code', type: 'text', name: 'id', isRowNumber: false })
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

test('a source without rows is refused', async () => {
  await assert.rejects(compileText('{"type":"FeatureCollection","features":[]}'), /has no rows\.$/)
})

test('the sample is at most a tenth of the rows and carries coordinates', async () => {
  const rows = Array.from({ length: 50 }, (_, i) => feature({ i }, { type: 'Point', coordinates: [i, -i] }))
  const { folder } = await compileText(collection(rows))
  const sample = JSON.parse(await readFile(join(folder, 'sample.json'), 'utf8'))
  assert.equal(sample.length, 5)
  for (const row of sample) assert.deepEqual(row, { i: row.i, longitude: row.i, latitude: 0 - row.i })
  const without = await compileText(collection(rows), { sample: false })
  assert.ok(!(await readdir(without.folder)).includes('sample.json'))
  assert.deepEqual(await verifySnapshot(without.folder), [])
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
  assert.equal(manifest.source.crs, 'EPSG:3857')
  await assert.rejects(compileText(text, { crs: 'OGC:CRS84' }), /projected coordinates\? Then name their CRS/)
})

test('a note says that longitude and latitude seem to be exchanged', async () => {
  const cities = [[13.4, 52.5], [2.35, 48.86], [-0.1, 51.5], [16.4, 48.2], [-73.9, 40.7]] // biome-ignore format: one list
  const buoys = [[3.2, 54.1], [-30, 45], [-20.5, 60.2], [5.5, 39.5]] // biome-ignore format: one list
  const notesOf = async (positions: number[][]) => {
    const features = positions.map((coordinates) => feature({}, { type: 'Point', coordinates }))
    return (await compileText(collection(features))).report.notes.join()
  }
  assert.match(
    await notesOf(cities.map(([x, y]) => [y!, x!])),
    /^Most features lie in the sea or in Antarctica, and all would lie on land/,
  )
  for (const places of [cities, buoys, [...cities, ...buoys], [[52.5, 13.4]]])
    assert.equal(await notesOf(places), '')
  await assert.rejects(
    notesOf([[37.8, -122.4]]),
    /latitude -122\.4 is outside ±90 \(latitude before longitude\?/,
  )
})
