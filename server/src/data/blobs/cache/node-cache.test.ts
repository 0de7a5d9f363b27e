import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHECKED_BLOCK_BYTES as BLOCK, BlockHasher } from '@wayleave/geodata/snapshot'
import { FolderStore } from '../../../base/storage/folder-store.ts'
import { makeLogger } from '../../../http/observability/logger.ts'
import { temporaryFolder } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { CachedObject } from './cached-object.ts'
import { NodeCache } from './node-cache.ts'
import { ObjectReader } from './object-reader.ts'

const log = makeLogger('silent')

/** A store that counts its reads. */
class CountingStore extends FolderStore {
  reads: string[] = []

  override read(key: string, span?: { from: number; to: number }): Promise<Buffer> {
    this.reads.push(`${key} ${span ? `${span.from / BLOCK}-${Math.ceil(span.to / BLOCK)}` : ''}`)
    return super.read(key, span)
  }
}

async function openObject(t: TestContext, { blocks = 40, maxBytes = 1 << 30, now = Date.now } = {}) {
  const content = randomBytes(blocks * BLOCK - 100)
  const hasher = new BlockHasher()
  hasher.update(content)
  const crcs = hasher.finish()
  const store = new CountingStore(temporaryFolder(t))
  await store.write('object', content)
  const folder = temporaryFolder(t)
  const openCache = async () => {
    const cache = new NodeCache(folder, maxBytes, log, now)
    await cache.open()
    const object = new CachedObject({
      store,
      cache,
      key: 'object',
      name: 'object',
      bytes: content.length,
      blocks: crcs,
      folder: join(cache.root, 'a_1', 'blocks', 'object'),
      wholePath: join(cache.root, 'a_1', 'object'),
      damaged: (message, cause) => new Error(message, { cause }),
    })
    const read = async (from: number, to: number) => {
      const target = Buffer.alloc(to - from)
      const bytesRead = await object.read(target, 0, to - from, from)
      assert.ok(target.subarray(0, bytesRead).equals(content.subarray(from, to)), `${from}-${to}`)
      return bytesRead
    }
    return { cache, object, read }
  }
  return { ...(await openCache()), openCache, store, content }
}

test('blocks are fetched once, by all readers together, and then read from disk', async (t) => {
  const { read, store, content, openCache, object, cache } = await openObject(t)
  await Promise.all([read(10, 20), read(BLOCK - 5, BLOCK + 5), read(0, 3 * BLOCK), read(30, 31)])
  // Which reader comes first is open, so neighbours may be fetched together.
  const fetched = store.reads.flatMap((read) => {
    const [from, to] = read.replace('object ', '').split('-').map(Number) as [number, number]
    return Array.from({ length: to - from }, (_, i) => from + i)
  })
  assert.deepEqual(fetched.sort(), [0, 1, 2])
  assert.equal(await read(content.length - 10, content.length + 50), 10)
  assert.equal(await read(content.length, content.length + 1), 0)
  object.prefetch([
    { from: 5 * BLOCK, to: 7 * BLOCK },
    { from: 9 * BLOCK, to: 9 * BLOCK + 1 },
  ])
  await read(5 * BLOCK, 10 * BLOCK)
  const before = store.reads.length
  await read(0, 3 * BLOCK)
  await read(5 * BLOCK, 10 * BLOCK)
  assert.equal(store.reads.length, before)
  // Another process, or the next one, finds them on disk.
  await untilKept(join(cache.root, 'a_1', 'blocks', 'object', '0'), 10 * BLOCK)
  const other = await openCache()
  await other.read(0, 3 * BLOCK)
  await other.read(5 * BLOCK, 10 * BLOCK)
  assert.equal(store.reads.length, before)
})

/** Blocks are written in the background. */
async function untilKept(path: string, bytes: number): Promise<void> {
  while (!existsSync(path) || statSync(path).size < bytes) await sleep(5)
}

test('what a crash or another process left in a file of blocks is not used', async (t) => {
  const { read, store, cache, openCache } = await openObject(t)
  await read(0, 2 * BLOCK)
  const folder = join(cache.root, 'a_1', 'blocks', 'object')
  await untilKept(join(folder, '0'), 2 * BLOCK)
  const { reads } = store
  writeFileSync(join(folder, '0'), Buffer.alloc(BLOCK + 10, 7))
  const damaged = await openCache()
  await damaged.read(0, 2 * BLOCK)
  assert.equal(reads.at(-1), 'object 0-2')
  rmSync(folder, { recursive: true })
  await read(0, BLOCK)
  assert.equal(reads.at(-1), 'object 0-1')
  await untilKept(join(folder, '0'), BLOCK)
})

test('a sequential reader gets its next part ahead', async (t) => {
  const { object, store, content } = await openObject(t, { blocks: 70 })
  const reader = new ObjectReader(object, true)
  const sizes = []
  for (let at = 0; at < content.length; at += 500_000) {
    const target = Buffer.alloc(500_000)
    const { bytesRead } = await reader.read(target, 0, target.length, at)
    assert.ok(target.subarray(0, bytesRead).equals(content.subarray(at, at + bytesRead)))
    sizes.push(bytesRead)
  }
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    content.length,
  )
  assert.ok(store.reads.length <= 8, store.reads.join(', '))
})

test('the cache stays below its limit; what was used least recently goes first', async (t) => {
  // Before the times of files that are written now.
  let now = Date.now() - 3_600_000
  const { read, cache, content } = await openObject(t, { blocks: 320, maxBytes: 40 * BLOCK, now: () => now })
  const folder = join(cache.root, 'a_1', 'blocks', 'object')
  // Five files of 64 blocks, each with ten.
  for (const segment of [0, 1, 2, 3]) {
    await read(segment * 64 * BLOCK, (segment * 64 + 10) * BLOCK)
    await untilKept(join(folder, String(segment)), 10 * BLOCK)
    now += 60_000
    utimesSync(join(folder, String(segment)), now / 1000, now / 1000)
  }
  now += 60_000
  utimesSync(join(folder, '0'), now / 1000, now / 1000)
  now += 60_000
  await read(4 * 64 * BLOCK, (4 * 64 + 10) * BLOCK)
  await untilKept(join(folder, '4'), 10 * BLOCK)
  await cache.collect()
  assert.deepEqual(readdirSync(folder).sort(), ['0', '3', '4'])
  assert.ok(cache.bytes <= 40 * BLOCK)
  // Also if the object is larger than the cache. Blocks are written in the background.
  await read(0, content.length)
  await untilKept(join(folder, '4'), 64 * BLOCK - 100)
  while (cache.bytes > 40 * BLOCK) await cache.collect()
})

test('a whole file that is in use stays, and a partial file of a dead process goes', async (t) => {
  let now = Date.now()
  const { cache } = await openObject(t, { maxBytes: 4 * BLOCK, now: () => now })
  const path = join(cache.root, 'rows.parquet')
  writeFileSync(path, randomBytes(8 * BLOCK))
  writeFileSync(`${path}.partial-1-abc`, 'x')
  const partitions = join(cache.root, 'places_1', 'tiles', '.tiles.pmtiles.partitions')
  mkdirSync(partitions, { recursive: true })
  writeFileSync(join(partitions, '0'), randomBytes(8 * BLOCK))
  await cache.collect()
  assert.ok(statSync(path).size > 0)
  now += 3 * 3_600_000
  await cache.collect()
  assert.deepEqual(readdirSync(cache.root), ['places_1'])
  assert.deepEqual(readdirSync(partitions), ['0'], 'a build may go on with them')
  now += 24 * 3_600_000
  await cache.collect()
  assert.ok(!existsSync(partitions))
})

test('the size of a cache folder is measured as often with many threads as with one', async (t) => {
  const folder = temporaryFolder(t)
  const [threads, maxBytes, fileBytes] = [8, 1 << 18, 4096]
  const caches = Array.from(
    { length: threads },
    () => new NodeCache(folder, maxBytes, log, Date.now, threads),
  )
  const blocks = join(caches[0]!.root, 'a_1', 'blocks', 'object')
  mkdirSync(blocks, { recursive: true })
  const add = (cache: NodeCache, name: string) => {
    writeFileSync(join(blocks, name), randomBytes(fileBytes))
    cache.added(fileBytes)
  }
  for (let i = 0; i < maxBytes / fileBytes; i++) add(caches[0]!, `first ${i}`)
  await caches[0]!.collect()
  await caches[0]!.collect()
  // None of the others writes a sixteenth of the limit.
  for (const [number, cache] of caches.entries())
    for (let i = 0; i < 3 && number > 0; i++) add(cache, `${number} ${i}`)
  const size = () => readdirSync(blocks).length * fileBytes
  await until('what is beyond the limit is evicted', async () => size() <= maxBytes * 1.1)
})
