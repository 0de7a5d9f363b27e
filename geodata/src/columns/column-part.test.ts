import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { SharedLoads } from '../bytes/shared-loads.ts'
import { collection, compileText, feature, withStoredLists } from '../compile/compile-fixture.ts'
import type { Bbox } from '../geometry/bbox.ts'
import { PackCache } from '../pack/pack-cache.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { openSnapshot, type Snapshot } from '../snapshot/open.ts'
import { ColumnCache } from './column-cache.ts'
import { readColumnDirectory } from './column-reader.ts'
import type { CompiledColumn } from './compiled-column.ts'

/** The rows of a segment of `withStoredLists`, which is a block. */
const SEGMENT = 4096
const ROWS = 6 * SEGMENT + 5
const NAMES = ['kind', 'number', 'name']
const CORNER: Bbox = [-180, -90, -170, -80]
const OTHER_CORNER: Bbox = [150, 60, 180, 90]
let snapshot: Snapshot
let whole: Map<string, CompiledColumn>

const openCache = (bytes = 1 << 26, shared: SharedLoads | null = null) =>
  new ColumnCache(bytes, { maxListedRows: 10, shared })

before(async () => {
  const rows = Array.from({ length: ROWS }, (_, i) =>
    feature(
      { kind: i % 11 === 0 ? null : `k${i % 7}`, number: i % 1000, name: `n${i % 300}` },
      { type: 'Point', coordinates: [((i * 37) % 3600) / 10 - 180, ((i * 59) % 1800) / 10 - 90] },
    ),
  )
  const { folder, manifest } = await compileText(collection(rows))
  snapshot = await openSnapshot(await withStoredLists(folder, manifest), new PackCache(1 << 24))
  const cache = openCache()
  whole = new Map()
  for (const name of NAMES) whole.set(name, (await cache.load(snapshot, name))!)
})
after(() => snapshot.close())

async function segmentsIn(cache: ColumnCache, box: Bbox): Promise<ReadonlySet<number>> {
  const segments = await cache.segmentsInBox(snapshot, box)
  assert.ok(segments && segments.size > 0 && segments.size <= 3, `${segments?.size} segments`)
  return segments
}

function requireSegments(column: CompiledColumn, segments: Iterable<number>): void {
  const expected = whole.get(column.name)!
  assert.deepEqual([column.values, column.starts], [expected.values, expected.starts])
  for (const segment of segments) {
    const part = (one: CompiledColumn) => one.codes.slice(segment * SEGMENT, (segment + 1) * SEGMENT)
    assert.deepEqual(part(column), part(expected), `${column.name} ${segment}`)
    assert.deepEqual(
      [column.blockMin[segment], column.blockMax[segment]],
      [expected.blockMin[segment], expected.blockMax[segment]],
    )
    const counts = ({ blockCounts, codeCount }: CompiledColumn) =>
      blockCounts?.slice(segment * codeCount, (segment + 1) * codeCount)
    assert.deepEqual(counts(column), counts(expected))
  }
}

test('the segments of a box have the codes of all features in it, and only they are loaded', async () => {
  const cache = openCache()
  for (const box of [CORNER, OTHER_CORNER]) {
    const segments = await segmentsIn(cache, box)
    const walk = snapshot.tree.walk(box, 0)
    while (walk.next())
      for (let row = walk.begin; row < walk.end; row++) assert.ok(segments.has(Math.floor(row / SEGMENT)))
    for (const name of NAMES) requireSegments((await cache.loadSegments(snapshot, name, segments))!, segments)
  }
  const lean = openCache()
  const [first] = await segmentsIn(lean, CORNER)
  const column = (await lean.loadSegments(snapshot, 'kind', new Set([first!])))!
  for (let segment = 0; segment * SEGMENT < ROWS; segment++) {
    const codes = column.codes.subarray(segment * SEGMENT, (segment + 1) * SEGMENT)
    if (segment !== first) assert.ok(codes.every((code) => code === 0))
  }
  const { bytes } = lean
  await lean.loadSegments(snapshot, 'kind', new Set([first!]))
  assert.equal(lean.bytes, bytes)
  assert.equal(lean.peek(snapshot, 'kind'), undefined)
  const all = new Set(Array.from({ length: 7 }, (_, segment) => segment))
  const loaded = (await lean.loadSegments(snapshot, 'kind', all))!
  assert.equal(loaded, lean.peek(snapshot, 'kind'), 'most segments are the column')
  assert.deepEqual(loaded.codes, whole.get('kind')!.codes)
  assert.equal(await lean.loadSegments(snapshot, 'kind', new Set([first!])), loaded)
})

test('without segments, or of a box of most of them, a column is loaded as a whole', async () => {
  assert.equal(await openCache().segmentsInBox(snapshot, [-180, -90, 180, 90]), null)
  assert.equal(await new ColumnCache(1 << 26).segmentsInBox(snapshot, CORNER), null)
  assert.deepEqual(await openCache().segmentsInBox(snapshot, [0.01, 0.01, 0.02, 0.02]), new Set())
})

test('a damaged segment is not used, and the others are', async (t) => {
  const { columns, segmentRows } = (await readColumnDirectory(snapshot.folder, snapshot.manifest))!
  assert.equal(segmentRows, SEGMENT)
  const { at } = columns.find(({ name }) => name === 'number')!.codes[2]!
  const file = await open(join(snapshot.folder, 'rows.columns'), 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at + 20)
  t.after(async () => {
    await file.write(byte, 0, 1, at + 20)
    await file.close()
  })
  await file.write(Buffer.of(byte[0]! ^ 1), 0, 1, at + 20)
  const cache = openCache()
  for (let attempt = 0; attempt < 2; attempt++)
    await assert.rejects(cache.loadSegments(snapshot, 'number', new Set([1, 2])), DamagedSnapshotError)
  requireSegments((await cache.loadSegments(snapshot, 'number', new Set([0, 1])))!, [0, 1])
})

/** What one thread has loaded arrives in others as a message does. */
class Messages implements SharedLoads {
  readonly stored = new Map<string, { value: Promise<object>; holders: number }>()
  /** Segments are read after it. */
  start: Promise<void> | null = null
  /** How many loads of segments wait for it. */
  waiting = 0

  async load<T extends object>(key: string, read: () => Promise<T>): Promise<T> {
    // The key of a segment ends with its number.
    const isHeld = this.start !== null && / part .*\d+$/.test(key)
    if (isHeld) this.waiting++
    const reading = async () => {
      if (isHeld) await this.start
      return read()
    }
    const entry = this.stored.get(key) ?? { value: reading(), holders: 0 }
    this.stored.set(key, entry)
    entry.holders++
    // Shared memory stays shared.
    return structuredClone(await entry.value) as T
  }

  release(key: string): void {
    const entry = this.stored.get(key)!
    if (--entry.holders === 0) this.stored.delete(key)
  }
}

test('threads share the segments, and what has left the cache of one while it was read is not taken by another', async () => {
  const messages = new Messages()
  const bytes = 1 << 20
  const caches = [openCache(bytes, messages), openCache(bytes, messages)]
  const segments = await segmentsIn(caches[0]!, CORNER)
  const columns = await Promise.all(caches.map((cache) => cache.loadSegments(snapshot, 'kind', segments)))
  for (const column of columns) requireSegments(column!, segments)
  const [codes, same] = columns.map((column) => column!.codes) as [Uint8Array, Uint8Array]
  const [first] = segments
  codes[first! * SEGMENT] = 99
  assert.equal(same[first! * SEGMENT], 99, 'the memory is one')
  const clear = (cache: ColumnCache) => cache.keep('other', {}, bytes - 20)
  for (const cache of caches) clear(cache)
  await new Promise(setImmediate)
  assert.deepEqual([...messages.stored.keys()], [])

  const { promise, resolve } = Promise.withResolvers<void>()
  messages.start = promise
  const load = async (cache: ColumnCache) => cache.loadSegments(snapshot, 'number', segments)
  const reading = load(caches[0]!)
  while (messages.waiting === 0) await new Promise(setImmediate)
  clear(caches[0]!)
  const again = load(caches[1]!)
  const { waiting } = messages
  while (messages.waiting === waiting) await new Promise(setImmediate)
  resolve()
  for (const column of await Promise.all([reading, again])) requireSegments(column!, segments)
  clear(caches[1]!)
  await new Promise(setImmediate)
  assert.deepEqual([...messages.stored.keys()], [])
})
