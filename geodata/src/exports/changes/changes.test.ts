import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { needs } from '../../../../scripts/test-run/needs.ts'
import {
  collection,
  compileText,
  feature,
  type GeojsonFeature,
  query,
  scratch,
} from '../../compile/compile-fixture.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { type BuiltChanges, buildChanges } from './build-changes.ts'
import { CHANGES_FORMATS, type ChangesFormat } from './changes-formats.ts'

needs('time')

type Row = { name: string | null; size: number | null; x: number; y: number; isLine: boolean }

const row = fc.record<Row>({
  name: fc.option(fc.string({ maxLength: 6 })),
  size: fc.option(fc.integer({ min: -5, max: 5 })),
  x: fc.integer({ min: -20, max: 20 }),
  y: fc.integer({ min: -20, max: 20 }),
  isLine: fc.boolean(),
})
/** Rows by id. Few ids and few values, so that versions share some. */
const version = fc.dictionary(fc.constantFrom(...'abcdefghijklm'), row, { noNullPrototype: true })

type Compiled = Awaited<ReturnType<typeof compileText>>
let serial = 0

async function changesOf(before: Compiled, after: Compiled, format: ChangesFormat) {
  const path = join(scratch, `changes-${++serial}.${CHANGES_FORMATS[format].extension}`)
  const built = await buildChanges({ before, after, format }, path)
  return { path, ...built }
}

function compileRows(rows: Record<string, Row>): Promise<Compiled> {
  const features = Object.entries(rows).map(([key, { x, y, isLine, ...properties }]) => {
    const point = { type: 'Point', coordinates: [x, y] }
    const line = {
      type: 'LineString',
      coordinates: [
        [x, y],
        [x + 1, y + 1],
      ],
    }
    return feature({ key, ...properties }, isLine ? line : point)
  })
  return compileText(collection(features), {
    idColumn: 'key',
    types: { key: 'text', name: 'text', size: 'integer' },
  })
}

interface Line {
  change: 'added' | 'removed' | 'changed'
  id: string | number
  feature: GeojsonFeature
  before?: GeojsonFeature
}

async function readLines(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

const byId = (features: GeojsonFeature[]) => new Map(features.map((one) => [one.id, one]))
const sorted = (features: Iterable<GeojsonFeature>) => [...features].map((one) => JSON.stringify(one)).sort()

test('applying the changes to the older version gives the newer one, in both forms', async () => {
  const rows = fc
    .record({ first: version, second: version })
    .filter(({ first, second }) => Object.keys(first).length > 0 && Object.keys(second).length > 0)
  await fc.assert(
    fc.asyncProperty(rows, async ({ first, second }) => {
      const before = await compileRows(first)
      const after = await compileRows(second)
      const lines = await changesOf(before, after, 'ndjson')
      const state = byId(before.features)
      for (const { change, id, feature: changed, before: old } of await readLines(lines.path)) {
        assert.equal(changed.id, id)
        assert.equal(state.has(id), change !== 'added')
        if (change === 'removed') assert.deepEqual(state.get(id), changed)
        if (change === 'changed') assert.deepEqual(state.get(id), old)
        if (change === 'removed') state.delete(id)
        else state.set(id, changed)
      }
      assert.deepEqual(sorted(state.values()), sorted(after.features))
      assert.deepEqual(lines.counts, bruteForce(before.features, after.features))
      await checkParquet(before, after, lines)
    }),
    { numRuns: 12, seed: 39 },
  )
})

function bruteForce(before: GeojsonFeature[], after: GeojsonFeature[]) {
  const [old, current] = [byId(before), byId(after)]
  const isChanged = (one: GeojsonFeature) =>
    old.has(one.id) && JSON.stringify(old.get(one.id)) !== JSON.stringify(one)
  return {
    added: after.filter(({ id }) => !old.has(id)).length,
    removed: before.filter(({ id }) => !current.has(id)).length,
    changed: after.filter(isChanged).length,
  }
}

/** The same changes as rows, applied by SQL. */
async function checkParquet(before: Compiled, after: Compiled, { counts }: BuiltChanges): Promise<void> {
  const built = await changesOf(before, after, 'geoparquet')
  assert.deepEqual(built.counts, counts)
  const file = (path: string) => `read_parquet('${path}')`
  const columns = ['key', 'name', 'size'].filter((name) =>
    after.manifest.columns.some((one) => one.name === name),
  )
  const list = [...columns, 'ST_AsWKB(geometry) AS geometry'].join(', ')
  const wholeNew = `SELECT ${list} FROM ${file(join(after.folder, 'rows.parquet'))}`
  const old = before.manifest.columns.map(({ name }) => name)
  const oldList = columns.map((name) => (old.includes(name) ? name : `NULL AS ${name}`)).join(', ')
  const applied = `
    SELECT ${oldList}, ST_AsWKB(geometry) AS geometry FROM ${file(join(before.folder, 'rows.parquet'))}
      WHERE key NOT IN (SELECT key FROM ${file(built.path)})
    UNION ALL SELECT ${list} FROM ${file(built.path)} WHERE change <> 'removed'`
  assert.deepEqual(await query(`(${applied}) EXCEPT ALL (${wholeNew})`), [])
  assert.deepEqual(await query(`(${wholeNew}) EXCEPT ALL (${applied})`), [])
}

test('removed rows keep their values where the columns still exist', async () => {
  const before = await compileText(
    collection([feature({ key: 1, size: 'large', gone: 2 }), feature({ key: 2, size: '7', gone: 3 })]),
    { idColumn: 'key' },
  )
  const after = await compileText(collection([feature({ key: 3, size: 8, change: 'x' })]), {
    idColumn: 'key',
  })
  const { path, counts } = await changesOf(before, after, 'geoparquet')
  assert.deepEqual(counts, { added: 1, removed: 2, changed: 0 })
  const rows = await query(`SELECT change_1, key, size, change FROM read_parquet('${path}') ORDER BY key`)
  assert.deepEqual(rows, [
    ['removed', '1', null, null],
    ['removed', '2', '7', null],
    ['added', '3', '8', 'x'],
  ])
})

test('features in another order are not changes, and large ones are compared whole', async () => {
  const rows = Array.from({ length: 3000 }, (_, i) =>
    feature({ key: i, text: `${'long '.repeat(i === 7 ? 300_000 : 5)}${i}` }),
  )
  const before = await compileText(collection(rows), { idColumn: 'key' })
  const after = await compileText(collection(rows.toReversed()), { idColumn: 'key' })
  const { counts } = await buildChanges({ before, after, format: 'ndjson' }, null)
  assert.deepEqual(counts, { added: 0, removed: 0, changed: 0 })
})

test('a damaged file is named with the folder of its version', async () => {
  const before = await compileText(collection([feature({ key: 1 })]), { idColumn: 'key' })
  const after = await compileText(collection([feature({ key: 2 })]), { idColumn: 'key' })
  const pack = join(before.folder, 'features.pack')
  await writeFile(pack, (await readFile(pack, 'utf8')).replace('1', '9'))
  await assert.rejects(
    buildChanges({ before, after, format: 'ndjson' }, null),
    (error) => error instanceof DamagedSnapshotError && error.folder === before.folder,
  )
})
