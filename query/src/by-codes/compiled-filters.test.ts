import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ColumnCache, openSnapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature } from '@wayleave/geodata/testing'
import { GeometryCache } from '../features/geometry-cache.ts'
import { planConditions } from '../plan/plan-conditions.ts'
import { conditionsOf } from '../testing/conditions.ts'
import { Unfinished } from '../work/unfinished.ts'
import { CompiledSelection } from './compiled-selection.ts'

const rows = Array.from({ length: 200 }, (_, i) => feature({ a: i, b: i, kind: `kind ${i % 5}` }))
const { folder } = await compileText(collection(rows))
const snapshot = await openSnapshot(folder)
after(() => snapshot.close())

/** A selection whose column cache has room for `count` columns of numbers. */
async function selectionOf(count: number) {
  const probe = new ColumnCache(1 << 26)
  await probe.load(snapshot, 'a')
  const columns = new ColumnCache(probe.bytes * count + 100)
  const selection = new CompiledSelection(columns, new GeometryCache(1 << 20))
  const prepare = (text: string) => {
    const { condition } = planConditions(conditionsOf(text), snapshot)!
    const prepared = selection.prepare({ snapshot, condition, sort: [], box: null })
    // Undefined if something has to be loaded.
    return prepared instanceof Unfinished ? undefined : prepared
  }
  return { columns, prepare }
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
