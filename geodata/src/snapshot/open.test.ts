import assert from 'node:assert/strict'
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { collection, compileText, feature } from '../compile/compile-fixture.ts'
import { PACK_BLOCK_BYTES, PACK_PART_BYTES, PackCache } from '../pack/pack-cache.ts'
import { PositionRuns } from '../pack/position-runs.ts'
import { openSnapshot } from './open.ts'
import { folderFiles, type SnapshotFiles } from './snapshot-files.ts'
import { verifySnapshot } from './verify.ts'

const LONG = 'x'.repeat(PACK_BLOCK_BYTES * 1.5)
const rows = Array.from({ length: 3000 }, (_, i) => {
  return feature(
    { i, text: i % 1000 === 0 ? LONG : 'y'.repeat(i % 300) },
    { type: 'Point', coordinates: [i / 20, 0] },
  )
})
const { folder, features } = await compileText(collection(rows))
const pack = await readFile(join(folder, 'features.pack'), 'utf8')
const texts = pack.split(',\n')

for (const [name, cache, options] of [
  ['without a cache', () => null, {}],
  ['with a cache that holds all', () => new PackCache(1 << 30), {}],
  ['with a cache of two blocks', () => new PackCache(PACK_BLOCK_BYTES * 2), {}],
  [
    'with an index that is read by blocks',
    () => new PackCache(PACK_BLOCK_BYTES * 64),
    { wholeIndexBytes: 0 },
  ],
] as const) {
  test(`any selection of features is read with the bytes of the pack, ${name}`, async () => {
    const shared = cache()
    const snapshot = await openSnapshot(folder, shared, undefined, options)
    assert.equal(snapshot.hasWholeIndex, !('wholeIndexBytes' in options))
    let wereParts = false
    const position = fc.integer({ min: 0, max: texts.length - 1 })
    const choice = fc.oneof(
      fc.uniqueArray(position, { maxLength: 60 }),
      fc.tuple(position, fc.integer({ min: 1, max: 80 })).map(([from, count]) => {
        return Array.from({ length: Math.min(count, texts.length - from) }, (_, i) => from + i)
      }),
    )
    await fc.assert(
      fc.asyncProperty(choice, async (chosen) => {
        const inAnyOrder = await snapshot.readRuns(PositionRuns.of(chosen))
        assert.ok(Buffer.concat(inAnyOrder).toString() === chosen.map((at) => texts[at]).join(',\n'))
        const positions = Uint32Array.from(chosen).sort()
        const expected = [...positions].map((at) => texts[at]).join(',\n')
        const runs = PositionRuns.of(positions)
        const inMemory = snapshot.bytesInMemory(runs)
        const length = await snapshot.bytesOf(runs)
        assert.equal(length, Buffer.byteLength(expected))
        assert.ok(Number.isNaN(inMemory) ? !snapshot.hasWholeIndex : inMemory === length)
        const sizes = await snapshot.sizesOf(positions)
        assert.deepEqual(
          [...sizes],
          Array.from(positions, (at) => Buffer.byteLength(texts[at]!) + 2),
        )
        const room = Buffer.alloc(length + 1)
        const end = snapshot.copyRuns(runs, room, 1)
        const parts = snapshot.piecesInMemory(runs)
        if (name === 'with a cache that holds all') assert.ok(end !== -1 && parts !== null)
        if (end !== -1) assert.ok(room.toString('utf8', 1, end) === expected)
        if (parts !== null) assert.ok(Buffer.concat(parts).toString('utf8') === expected)
        wereParts ||= parts !== null && parts.length > 1
      }),
      { numRuns: 60 },
    )
    assert.equal(wereParts, shared !== null)
    assert.equal((await snapshot.readPack(10, 20)).toString('utf8'), texts.slice(10, 20).join(',\n'))
    assert.equal((await snapshot.readPack(0, 1e9)).toString('utf8'), pack)
    for (const at of [0, 1500, 2999]) assert.equal(await snapshot.findById(String(features[at]!.id)), at)
    for (const at of [0, 1500, 2999]) {
      const inMemory = snapshot.findByIdInMemory(String(features[at]!.id))
      assert.ok(inMemory === undefined || inMemory === at)
    }
    assert.equal(await snapshot.findById('3001'), -1)
    assert.equal(await snapshot.findById('01'), -1)
    assert.equal(await snapshot.findById(''), -1)
    await snapshot.close()
    assert.equal(shared?.bytes ?? 0, 0)
  })
}

test('an index that is read by blocks is not fetched as a whole, and is verified by the reader if it can', async () => {
  const fetched: string[] = []
  const read: string[] = []
  const local = folderFiles(folder)
  const files: SnapshotFiles = {
    ...local,
    isLocal: false,
    fetch: async (names) => void fetched.push(...names),
    async open(name) {
      const file = await local.open(name)
      const bytes = await readFile(join(folder, name))
      return {
        read: () => Promise.reject(new Error('not verified')),
        stat: () => file.stat(),
        close: () => file.close(),
        async readVerified(from, to) {
          assert.ok(from % PACK_BLOCK_BYTES === 0 && (to % PACK_BLOCK_BYTES === 0 || to === bytes.length))
          read.push(name)
          return bytes.subarray(from, to)
        },
      }
    },
  }
  const cache = new PackCache(PACK_BLOCK_BYTES * 64)
  const snapshot = await openSnapshot(files, cache, undefined, { wholeIndexBytes: 0 })
  assert.deepEqual(fetched, ['checksums.json'])
  assert.equal(read.length, 2)
  assert.equal(await snapshot.findById(String(features[1500]!.id)), 1500)
  assert.equal((await snapshot.readPack(10, 20)).toString('utf8'), texts.slice(10, 20).join(',\n'))
  await snapshot.close()
})

/** The parts of a block. */
const PARTS = PACK_BLOCK_BYTES / PACK_PART_BYTES

test('the cache never holds more than its bound, and several readers of a part share one read', async () => {
  const cache = new PackCache(PACK_PART_BYTES * 3)
  let reads = 0
  const read = async (from: number, to: number) => {
    reads++
    return Buffer.alloc(to - from)
  }
  const [one, other] = [cache.admit(PACK_BLOCK_BYTES * 10, read), cache.admit(PACK_BLOCK_BYTES, read)]
  await Promise.all([one.load(0), one.load(0), other.load(0)])
  assert.equal(reads, 2)
  for (let part = 0; part < 10 * PARTS; part++) {
    await one.load(part)
    assert.ok(cache.bytes <= PACK_PART_BYTES * 3)
  }
  assert.equal(one.peek(0), undefined)
  assert.ok(one.peek(10 * PARTS - 1))
})

test('a part that is used stays in the cache while others pass through it', async () => {
  const cache = new PackCache(PACK_PART_BYTES * 3)
  const pack = cache.admit(PACK_BLOCK_BYTES * 20, async (from, to) => Buffer.alloc(to - from))
  await pack.load(0)
  for (let block = 1; block < 20; block++) {
    await pack.load(block * PARTS)
    assert.ok(pack.peek(0), `gone after block ${block}`)
  }
})

test('only the parts of a block that are needed are kept, or all of them with one read if they are several', async () => {
  const bytes = Buffer.from(Uint8Array.from({ length: PACK_BLOCK_BYTES * 2 + 9 }, (_, i) => i / 1000))
  const reads: [from: number, to: number][] = []
  const pack = new PackCache(1 << 30).admit(bytes.length, async (from, to) => {
    reads.push([from, to])
    return Buffer.from(new Uint8Array(bytes.subarray(from, to)).buffer)
  })
  const inMemory = () => Array.from({ length: 2 * PARTS + 1 }, (_, i) => i).filter((i) => pack.peek(i))
  await Promise.all([pack.load(3), pack.load(1)])
  assert.deepEqual(inMemory(), [1, 3])
  await pack.load(6)
  assert.deepEqual(
    inMemory(),
    Array.from({ length: PARTS }, (_, i) => i),
  )
  assert.equal(reads.length, 3)
  await pack.load(PARTS, PARTS + 2)
  await pack.load(2 * PARTS, 2 * PARTS)
  assert.equal(reads.length, 5)
  for (const part of inMemory()) {
    const start = part * PACK_PART_BYTES
    const own = pack.peek(part)!.bytes
    assert.ok(own.equals(bytes.subarray(start, start + PACK_PART_BYTES)))
    assert.equal(own.buffer.byteLength, own.length, 'it is freed alone')
  }
  assert.equal(inMemory().length, 2 * PARTS + 1)
})

test('nothing of a pack that has left stays in the cache, not even what was being read', async () => {
  const cache = new PackCache(PACK_BLOCK_BYTES * 3)
  const pack = cache.admit(PACK_BLOCK_BYTES * 2, async (from, to) => Buffer.alloc(to - from))
  await pack.load(0)
  const reading = pack.load(PARTS, PARTS + 4)
  pack.leave()
  await reading
  assert.equal(cache.bytes, 0)
})

test('a failed read rejects all waiting callers and is retried by the next', async () => {
  let fails = true
  const pack = new PackCache(PACK_BLOCK_BYTES).admit(9, async () => {
    if (fails) throw new Error('disk')
    return Buffer.alloc(9)
  })
  const both = await Promise.allSettled([pack.load(0), pack.load(0)])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  fails = false
  assert.equal((await pack.load(0)).bytes.length, 9)
})

test('verification names the file that is not as the manifest says', async () => {
  const { folder: damaged } = await compileText(collection([feature({ a: 1 })]))
  assert.deepEqual(await verifySnapshot(damaged), [])
  const sample = join(damaged, 'sample.json')
  await writeFile(sample, (await readFile(sample, 'utf8')).replace('1', '2'))
  await appendFile(join(damaged, 'features.pack'), ' ')
  await truncate(join(damaged, 'features.index'), 10)
  assert.deepEqual(
    (await verifySnapshot(damaged)).map((sentence) => sentence.split(' ')[0]),
    ['features.pack', 'features.index', 'sample.json'],
  )
})
