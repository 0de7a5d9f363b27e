import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { SourceError } from '../source-error.ts'
import { compileSnapshot } from './compile.ts'
import { scratch } from './compile-fixture.ts'
import { inspectInChildProcess } from './compile-in-child-process.ts'
import type { CompileOptions } from './compile-options.ts'
import { inspectSource } from './inspect.ts'
import { SchemaMismatchError } from './schema-mismatch-error.ts'

let serial = 0
async function source(text: string, name = 'stops.csv'): Promise<{ path: string; folder: string }> {
  const path = join(scratch, `inspect-${++serial}-${name}`)
  await writeFile(path, text)
  return { path, folder: join(scratch, `inspect-${serial}`) }
}

async function inspect(text: string, options: Partial<CompileOptions> = {}) {
  return inspectSource({ ...(await source(text)), threads: 1, ...options })
}

const STOPS = [
  'code;name;opened;height;Name;longitude;latitude',
  '1;Ost;31-12-2020;1,5;a;9.5;47.1',
  '2;West;01-02-2021;2,25;b;9.6;47.2',
  'x;;13-02-2021;;;9.7;47.3',
  '4;Süd;14-02-2021;3,5;d;9.8;95',
].join('\n')

test('an inspection tells columns, types, values that disagree, problems by row and the extent', async () => {
  const inspection = await inspect(STOPS)
  assert.equal(inspection.rows, 3)
  assert.equal(inspection.problemCount, 1)
  assert.equal(inspection.problems[0]!.row, 4)
  assert.deepEqual(inspection.bbox, [9.5, 47.1, 9.7, 47.3])
  assert.deepEqual(inspection.geometryTypes, ['Point'])
  assert.equal(inspection.places.length, 3)
  assert.equal(inspection.timeColumn, 'opened')
  const columns = Object.fromEntries(inspection.columns.map((column) => [column.name, column]))
  assert.deepEqual(Object.keys(columns), ['code', 'name', 'opened', 'height', 'Name_1'])
  assert.equal(columns.Name_1!.source, 'Name')
  assert.equal(columns.code!.type, 'text')
  assert.deepEqual(columns.code!.likely, {
    type: 'integer',
    format: null,
    disagreeing: 1,
    examples: [{ row: 3, value: 'x' }],
  })
  assert.equal(columns.opened!.type, 'date')
  assert.equal(columns.opened!.format, 'dd-mm-yyyy')
  assert.equal(columns.height!.type, 'number')
  assert.equal(columns.height!.format, 'decimal-comma')
  assert.equal(columns.height!.empty, 1)
  assert.deepEqual(inspection.preview[0], {
    row: 1,
    values: ['1', 'Ost', '2020-12-31', '1.5', 'a'],
    geometry: 'Point',
  })
})

test('an inspection counts the rows that no map shows, unless it is a table', async () => {
  const rows = ['1;4.47;51.92', '2;4.48;51.91', '3;;']
  assert.equal((await inspect(['id;longitude;latitude', ...rows].join('\n'))).unlocated, 1)
  assert.equal((await inspect(['id;width;height', ...rows].join('\n'))).unlocated, 0)
  assert.equal((await inspect(STOPS)).unlocated, 0)
})

test('an inspection in a sandboxed process leaves no files', async () => {
  const options = await source(STOPS)
  const inspection = await inspectInChildProcess({ ...options, threads: 1 })
  assert.equal(inspection.rows, 3)
  assert.equal(existsSync(options.folder), false)
})

test('an inspection of a file without valid rows lists the problems', async () => {
  const inspection = await inspect('name,wkt\na,POINT (9 95)\nb,POINT (9 96)\n', {
    geometryColumn: 'wkt',
  })
  assert.deepEqual([inspection.rows, inspection.problemCount], [0, 2])
})

test('long values are cut in the preview', async () => {
  const inspection = await inspect(`name,n\n${'x'.repeat(1000)},1\ny,2\n`)
  assert.equal(inspection.preview[0]!.values[0]!.length, 201)
})

test('columns get the names, types and formats that the publisher fixed, and hidden ones are left out', async () => {
  const { manifest } = await compileSnapshot({
    ...(await source('a;b;c;d\n1.234;03-04-2020;x;1\n2.345;04-05-2020;y;2\n')),
    threads: 1,
    columns: [
      { source: 'a', name: 'count', type: 'integer', format: 'decimal-comma' },
      { source: 'b', name: 'day', format: 'mm-dd-yyyy' },
      { source: 'c', isHidden: true },
      { source: 'd', type: 'text' },
    ],
  })
  assert.deepEqual(
    manifest.columns.map(({ name, type }) => [name, type]),
    [
      ['count', 'integer'],
      ['day', 'date'],
      ['d', 'text'],
    ],
  )
  assert.equal(manifest.statistics!.count!.max, 2345)
  assert.deepEqual(manifest.timeExtent, ['2020-03-04', '2020-04-05'])
})

test('a hidden column can hold the ids', async () => {
  const options = { columns: [{ source: 'k', isHidden: true }], idColumn: 'k' }
  const { manifest } = await compileSnapshot({ ...(await source('k,v\nq,1\nr,2\n')), threads: 1, ...options })
  assert.deepEqual(manifest.id, { column: null, type: 'text', name: 'id', isRowNumber: false })
})

test('a source that differs from what was fixed is refused with every difference, or published if asked', async () => {
  const columns = [
    { source: 'a', type: 'integer' as const },
    { source: 'b', type: 'date' as const, format: 'dd-mm-yyyy' as const },
    { source: 'gone', type: 'text' as const },
  ]
  const text = 'a,b\n1,31-12-2020\nx,soon\n'
  const refused = compileSnapshot({ ...(await source(text)), threads: 1, columns })
  await assert.rejects(refused, (error: SchemaMismatchError) => {
    assert.ok(error instanceof SchemaMismatchError)
    assert.equal(error.misfits.length, 3)
    assert.match(error.message, /"gone" is missing/)
    assert.match(error.message, /Column a cannot be published as integer: row 2 has "x"/)
    assert.match(error.message, /Column b cannot be published as dd-mm-yyyy: row 2 has "soon"/)
    return true
  })
  const lenient = { ...(await source(text)), threads: 1, columns, ignoresMisfits: true }
  const { manifest } = await compileSnapshot(lenient)
  assert.deepEqual(
    manifest.columns.map(({ type }) => type),
    ['text', 'text'],
  )
  assert.equal((await inspect(text, { columns })).misfits.length, 3)
})

test('columns that were chosen for another file are left out and reported, if they may be', async () => {
  const text = 'k,when,lon,lat\nq,soon,4,52\n'
  const chosen = { idColumn: 'gone', timeColumn: 'when', longitude: 'x', latitude: 'y' }
  const ignorable = ['idColumn', 'timeColumn', 'coordinates'] as const
  const { manifest, report } = await compileSnapshot({
    ...(await source(text)),
    threads: 1,
    ...chosen,
    ignorable,
  })
  assert.deepEqual(
    [manifest.id.isRowNumber, manifest.timeColumn, manifest.geometryType],
    [true, null, 'Point'],
  )
  for (const note of [/no column "gone"/, /when holds text/, /no column "x"/])
    assert.ok(
      report.notes.some((text) => note.test(text)),
      `${note}`,
    )
  const inspected = await inspect(text, { ...chosen, ignorable })
  assert.equal(inspected.geometryType, 'Point')
  assert.deepEqual(inspected.misfits.length, 1)
  for (const left of ignorable) {
    const others = ignorable.filter((role) => role !== left)
    const refused = compileSnapshot({ ...(await source(text)), threads: 1, ...chosen, ignorable: others })
    await assert.rejects(refused, SourceError, left)
  }
})
