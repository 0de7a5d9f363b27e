import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ColumnCache, openSnapshot, PackCache, type Snapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature, withStoredLists } from '@wayleave/geodata/testing'
import { GeometryCache } from '../features/geometry-cache.ts'
import { planConditions } from '../plan/plan-conditions.ts'
import { conditionsOf } from '../testing/conditions.ts'
import { Unfinished } from '../work/unfinished.ts'
import { CompiledSelection } from './compiled-selection.ts'

const rows = Array.from({ length: 200 }, (_, i) => feature({ a: i, b: i, kind: `kind ${i % 5}` }))
const { folder, manifest } = await compileText(collection(rows))
const snapshot = await openSnapshot(folder)
after(() => snapshot.close())

/** A selection whose column cache has room for `count` columns of numbers. */
async function selectionOf(count: number) {
  const probe = new ColumnCache(1 << 26)
  await probe.load(snapshot, 'a')
  const columns = new ColumnCache(probe.bytes * count + 100)
  return { columns, prepare: preparer(snapshot, columns) }
}

function preparer(snapshot: Snapshot, columns: ColumnCache) {
  const selection = new CompiledSelection(columns, new GeometryCache(1 << 20))
  return (text: string, { wanted = 10, isCount = false }: { wanted?: number; isCount?: boolean } = {}) => {
    const { condition } = planConditions(conditionsOf(text), snapshot)!
    const prepared = selection.prepare({ snapshot, condition, sort: [], box: null, wanted, isCount })
    // Undefined if something has to be loaded.
    return prepared instanceof Unfinished ? undefined : prepared
  }
}

test('a repeated filter is compiled once', async () => {
  const { columns, prepare } = await selectionOf(3)
  for (const name of ['a', 'b']) await columns.load(snapshot, name)
  const first = prepare('a IN (1, 5, 9) AND b < 9')!
  assert.equal(prepare('a IN (1, 5, 9) AND b < 9')!.filter, first.filter)
  assert.notEqual(prepare('a IN (1, 5, 9) AND b < 6')!.filter, first.filter)
  const hits = columns.lookups.hits
  prepare('a IN (1, 5, 9) AND b < 9')
  assert.equal(columns.lookups.hits, hits + 2, 'its columns count as used')
})

test('no compiled filter keeps a column that left the cache', async () => {
  const { columns, prepare } = await selectionOf(1)
  await columns.load(snapshot, 'a')
  assert.ok(prepare('a < 9')!.filter)
  await columns.load(snapshot, 'b')
  assert.equal(prepare('a < 9'), undefined, 'the column has to be loaded again')
})

test('the list of candidates of a large column is read only if it saves time', async (t) => {
  const opened = await openSnapshot(await withStoredLists(folder, manifest), new PackCache(1 << 24))
  t.after(() => opened.close())
  const columns = new ColumnCache(1 << 26, { maxListedRows: 10 })
  for (const name of ['a', 'b']) assert.equal((await columns.load(opened, name))!.order, null)
  const prepare = preparer(opened, columns)
  // One in two rows matches, so a page is full soon; all matches are found by the codes.
  assert.equal(prepare('a < 100')!.filter!.areCandidatesListed, false)
  assert.equal(prepare('a < 100', { wanted: Infinity })!.filter!.areCandidatesListed, false)
  assert.equal(prepare('a < 3', { wanted: 1 })!.filter!.areCandidatesListed, false)
  // The list has to be read first.
  assert.equal(prepare('a < 3', { wanted: Infinity }), undefined)
  // The list of one value is read as far as a page needs it.
  assert.notEqual(prepare('a = 5 AND b < 150')!.filter!.ascendingList, null)
  assert.equal(prepare('a < 3', { wanted: Infinity, isCount: true })!.filter!.exactCount, 3)
})
