import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SharedLoads } from '../bytes/shared-loads.ts'
import { collection, compileText, feature } from '../compile/compile-fixture.ts'
import { PackCache } from '../pack/pack-cache.ts'
import { openSnapshot } from '../snapshot/open.ts'
import { ColumnCache } from './column-cache.ts'

const ROWS = 40_000
const COLUMNS = ['number', 'text', 'time']

/** What one thread has loaded arrives in others as a message does. */
class Messages implements SharedLoads {
  readonly stored = new Map<string, object>()
  readonly held: string[] = []
  reads = 0

  async load<T extends object>(key: string, read: () => Promise<T>): Promise<T> {
    let value = this.stored.get(key)
    if (value === undefined) {
      this.reads++
      value = structuredClone(await read())
      this.stored.set(key, value)
    }
    this.held.push(key)
    return structuredClone(value) as T
  }

  release(key: string): void {
    assert.ok(this.held.includes(key), key)
    this.held.splice(this.held.indexOf(key), 1)
  }
}

test('threads serve a snapshot from one index, one block and one column in memory', async () => {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    feature(
      { number: i % 7, text: `t${i % 5}`, time: `2020-01-0${1 + (i % 9)}T00:00:00Z` },
      { type: 'Point', coordinates: [(i % 360) - 180, (i % 170) - 85] },
    ),
  )
  const { folder } = await compileText(collection(rows))
  const alone = await openSnapshot(folder, new PackCache(1 << 30))
  const ownColumns = new ColumnCache(1 << 30)
  const messages = new Messages()
  const thread = async () => ({
    snapshot: await openSnapshot(folder, new PackCache(1 << 30, messages)),
    columns: new ColumnCache(1 << 30, { shared: messages }),
  })
  const threads = [await thread(), await thread()]
  for (const { snapshot, columns } of threads) {
    assert.ok((await snapshot.readPack(0, ROWS)).equals(await alone.readPack(0, ROWS)))
    for (const name of COLUMNS) {
      const [column, own] = [(await columns.load(snapshot, name))!, (await ownColumns.load(alone, name))!]
      assert.deepEqual(column.codes, own.codes)
      assert.deepEqual(column.order, own.order)
      assert.deepEqual(column.values, own.values)
    }
  }
  const loads = messages.stored.size
  assert.equal(messages.reads, loads, 'nothing was read twice')
  for (const value of messages.stored.values()) {
    for (const part of Object.values(value)) {
      if (ArrayBuffer.isView(part)) assert.ok(part.buffer instanceof SharedArrayBuffer)
    }
  }
  for (const { snapshot } of threads) await snapshot.close()
  const rest = messages.held.filter((key) => !COLUMNS.some((name) => key.endsWith(name)))
  assert.deepEqual(rest, [], 'a closed snapshot holds no index and no blocks')
  await alone.close()
})

test('a column that is evicted is released', async () => {
  const { folder } = await compileText(collection([feature({ a: 1, b: 2 }, null)]))
  const snapshot = await openSnapshot(folder)
  const messages = new Messages()
  const columns = new ColumnCache(1 << 20, { shared: messages })
  await columns.load(snapshot, 'a')
  assert.equal(messages.held.length, 1)
  // Fills the cache, so that the column is evicted.
  columns.keep('other', {}, (1 << 20) - 10)
  await new Promise(setImmediate)
  assert.deepEqual(messages.held, [])
  await snapshot.close()
})
