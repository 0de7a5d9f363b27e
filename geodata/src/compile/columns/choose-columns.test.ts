import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Feature, FeatureStream, SourceColumn } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { compileSnapshot } from '../compile.ts'
import { collection, compileText, feature, query, scratch } from '../compile-fixture.ts'

async function typesOf(values: unknown[]): Promise<string> {
  const { manifest } = await compileText(collection(values.map((value) => feature({ v: value }))))
  return manifest.columns[0]!.type
}

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
    ['Name', 'name_2', 'name_1', 'column_4', 'longitude', 'Geometry_1', 'id'],
  )
  assert.equal(manifest.notes.length, 4)
})

test('the report numbers columns as the file does, also after those that became the geometry', async () => {
  const renamed = ['Column 3, "geometry", is named geometry_1.', 'Column 5, "A", is named A_1.']
  const notes = async (text: string, format: string) => {
    const { manifest } = await compileText(text, { format, file: `a.${format}` })
    return manifest.notes.filter((note) => note.includes('is named'))
  }
  assert.deepEqual(await notes('lon,lat,geometry,a,A\n1,2,x,3,4\n', 'csv'), renamed)
  assert.deepEqual(await notes('[{"lon":1,"lat":2,"geometry":"x","a":3,"A":4}]', 'json'), renamed)
  const path = join(scratch, 'numbered.parquet')
  await query(`COPY (SELECT 1.5 AS lon, 2.5 AS lat, 'x' AS geometry) TO '${path}' (FORMAT parquet)`)
  const { manifest } = await compileSnapshot({ path, folder: join(scratch, 'numbered') })
  assert.ok(manifest.notes.includes(renamed[0]!), manifest.notes.join())
})

test('the time column is the first of dates or timestamps unless another is named', async () => {
  const rows = collection([feature({ a: 1, d: '2020-01-01', t: '2020-01-01T00:00:00Z' })])
  assert.equal((await compileText(rows)).manifest.timeColumn, 'd')
  assert.equal((await compileText(rows, { timeColumn: 't' })).manifest.timeColumn, 't')
  await assert.rejects(compileText(rows, { timeColumn: 'a' }), SourceError)
})

test('the earliest and the latest time are kept as features have them', async () => {
  const extentOf = async (times: (string | null)[]) => {
    const rows = collection(times.map((t, n) => feature({ n, t })))
    return (await compileText(rows)).manifest.timeExtent
  }
  assert.deepEqual(await extentOf(['2020-02-29', null, '1815-06-18', '2019-12-31']), [
    '1815-06-18',
    '2020-02-29',
  ])
  const times = ['2020-01-01T00:30:00+02:00', '2020-01-01T00:00:00Z', '2019-12-31T23:00:00.25Z', null]
  const { manifest, features, report } = await compileText(
    collection(times.map((t, n) => feature({ n, t }, { type: 'Point', coordinates: [n, n] }))),
  )
  assert.deepEqual(manifest.timeExtent, ['2019-12-31T22:30:00Z', '2020-01-01T00:00:00Z'])
  assert.deepEqual(report.timeExtent, manifest.timeExtent)
  const written = features.map(({ properties }) => properties['t'])
  for (const end of manifest.timeExtent!) assert.ok(written.includes(end), end)
  assert.deepEqual(await extentOf(['2020-01-01T10:00:00.123456Z']), [
    '2020-01-01T10:00:00.123456Z',
    '2020-01-01T10:00:00.123456Z',
  ])
  assert.equal(await extentOf([null, null]), null)
})

test('rows that are left out for their ids do not count for the time, nor do columns of nothing', async () => {
  const columns: SourceColumn[] = [
    { name: 'id', type: 'integer' },
    { name: 'never', type: 'date' },
    { name: 'day', type: 'date' },
  ]
  const stream = (): FeatureStream => ({
    columns,
    spatial: false,
    crs: null,
    bytesRead: 0,
    totalBytes: null,
    notes: [],
    async *batches() {
      const rows = [
        [1, null, '2020-01-02'],
        [1, null, '1999-01-01'],
        [2, null, '2020-01-03'],
      ]
      yield rows.map((values, i): Feature => ({ id: null, values, geometry: null, row: i + 1 }))
    },
  })
  const compile = async (folder: string, timeColumn?: string) => {
    const options = { path: 'table.csv', folder: join(scratch, folder), idColumn: 'id', skipInvalid: true }
    const source = { stream: stream(), format: 'csv', bytes: 9 }
    const named = timeColumn === undefined ? options : { ...options, timeColumn }
    return (await compileSnapshot(named, undefined, undefined, source)).manifest
  }
  assert.deepEqual((await compile('named', 'day')).timeExtent, ['2020-01-02', '2020-01-03'])
  const { timeColumn, timeExtent } = await compile('first')
  assert.deepEqual([timeColumn, timeExtent], ['never', null])
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
  assert.deepEqual(
    manifest.columns.map((column) => column.nullable),
    [true, false, false, true, true, false],
  )
  assert.deepEqual(manifest.notes, ['From a test.'])
  const pack = await readFile(join(folder, 'features.pack'), 'utf8')
  assert.deepEqual(pack.split(',\n'), [
    '{"type":"Feature","id":1,"geometry":null,"properties":{"n":2,"x":1.5,"zip":"01234","ok":true,"day":"2020-01-01","phone":"+49301"}}',
    '{"type":"Feature","id":2,"geometry":null,"properties":{"n":null,"x":-2000.0,"zip":"99999","ok":null,"day":null,"phone":""}}',
    '{"type":"Feature","id":3,"geometry":null,"properties":{"n":9007199254740993,"x":0.5,"zip":"1","ok":false,"day":"2021-12-31","phone":"030"}}',
  ])
  const [first] = await query(`SELECT n, zip FROM '${folder}/rows.parquet' WHERE file_row_number = 2`)
  assert.deepEqual(first, ['9007199254740993', '1'])
  assert.ok(!(await readdir(folder)).includes('points.parquet'))
})

test('a number that no double holds is null, and the report says so', async () => {
  const nested = { of: ['@', 1, { deep: '@' }] }
  const rows = [feature({ a: 1, b: 'x', c: nested }), feature({ a: '@', b: 'y', c: { of: 2 } })]
  const { manifest, features } = await compileText(collection(rows).replaceAll('"@"', '1e400'))
  assert.deepEqual(
    features.map(({ properties }) => properties['a']),
    [1, null],
  )
  assert.deepEqual(features[0]!.properties['c'], { of: [null, 1, { deep: null }] })
  assert.deepEqual(manifest.notes, [
    'Column a has 1 value that is not a number, infinite or too large for one: published as null.',
    'Column c has 2 values that are not a number, infinite or too large for one: published as null.',
  ])
})

test('half of a surrogate pair becomes U+FFFD, in a nested value as in a text', async () => {
  const nested = { 'k\udc00': ['\ud800', '\\ud800', '\\\ud800', '😀'], big: 99_999_999_999_999_999_999n }
  const values = JSON.stringify(nested, (_, value) => (typeof value === 'bigint' ? '@' : value))
  const text = collection([feature({ plain: '\ud800', nested: '#' })])
    .replace('"#"', () => values)
    .replace('"@"', String(nested.big))
  const { features } = await compileText(text)
  assert.equal(features[0]!.properties['plain'], '\ufffd')
  const found = features[0]!.properties['nested'] as Record<string, unknown>
  assert.deepEqual(found['k\ufffd'], ['\ufffd', '\\ud800', '\\\ufffd', '😀'])
})

test('integers of more than 38 digits keep every digit as text, and the report says so', async () => {
  const huge = '123456789012345678901234567890123456789'
  const text = collection([feature({ v: 1 }), feature({ v: '?' })]).replace('"?"', huge)
  const { features, manifest, report } = await compileText(text)
  assert.equal(manifest.columns[0]!.type, 'text')
  assert.deepEqual(
    features.map(({ properties }) => properties['v']),
    ['1', huge],
  )
  assert.deepEqual(report.notes, [
    'Column v has integers of more than 38 digits: it is published as text, which keeps every digit.',
  ])
  const path = join(scratch, 'huge.csv')
  await writeFile(path, `v\n1.5\n${huge}\n`)
  const folder = join(scratch, 'huge')
  await compileSnapshot({ path, folder })
  assert.match(await readFile(join(folder, 'features.pack'), 'utf8'), new RegExp(`"${huge}"`))
})

test('ids that are missing in part, or are numbers and texts, are reported', async () => {
  const some = await compileText(collection([feature({}, null, 'a'), feature({}, null)]))
  assert.deepEqual(some.report.notes, [
    'Only 1 of 2 features have an id in the source, so features are numbered by their rows.',
  ])
  assert.deepEqual(
    some.features.map(({ id }) => id),
    [1, 2],
  )
  const mixed = await compileText(collection([feature({}, null, 7), feature({}, null, 'a')]))
  assert.deepEqual(mixed.report.notes, [
    'Some ids in the source are numbers and some are texts, so all ids are published as texts.',
  ])
  assert.deepEqual(
    mixed.features.map(({ id }) => id),
    ['7', 'a'],
  )
})

test('the report says when ids of the source are changed, unusable or empty', async () => {
  const report = async (ids: unknown[]) => {
    const point = { type: 'Point', coordinates: [1, 2] }
    const rows = collection(ids.map((id, n) => feature({ n }, point, id)))
    const { manifest, features } = await compileText(rows)
    return { notes: manifest.notes, ids: features.map(({ id }) => id).sort() }
  }
  assert.deepEqual(await report([1.5, 2.5, 3]), {
    notes: [
      'Some ids in the source are numbers but no integers of up to 38 digits, so all ids are published as texts.',
    ],
    ids: ['1.5', '2.5', '3'],
  })
  const unusable =
    'Some ids in the source are neither texts nor numbers, so features are numbered by their rows.'
  assert.deepEqual(await report([true, false]), { notes: [unusable], ids: [1, 2] })
  assert.deepEqual(await report(['a', { b: 1 }, 'c']), { notes: [unusable], ids: [1, 2, 3] })
  assert.deepEqual(await report(['a', '', 'c']), {
    notes: ['Only 2 of 3 features have an id in the source, so features are numbered by their rows.'],
    ids: [1, 2, 3],
  })
  assert.deepEqual(await report(['a', 'b']), { notes: [], ids: ['a', 'b'] })
  assert.deepEqual(await report([null, null]), { notes: [], ids: [1, 2] })
})

test('an empty text in the id column is a missing id', async () => {
  const rows = collection(['a', '', 'c'].map((code) => feature({ code })))
  await assert.rejects(compileText(rows, { idColumn: 'code' }), /Row 2: the id column code is empty/)
  const { features } = await compileText(rows, { idColumn: 'code', skipInvalid: true })
  assert.deepEqual(
    features.map(({ id }) => id),
    ['a', 'c'],
  )
})
