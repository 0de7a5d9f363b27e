import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Changes, Listener, Subject } from '../database/changes/changes.ts'
import { CoherentCache } from './coherent-cache.ts'

/** The control database of the tests: values by key, and changes that are applied when a test says so. */
let stored: Map<string, string>
let listeners: Listener[]
let trusted: boolean
let applied: number
let reads: number
/** A read waits for this after it has seen the stored value. */
let slowness: Promise<void>
let cache: CoherentCache<string>

beforeEach(() => {
  stored = new Map([
    ['a', 'a1'],
    ['b', 'b1'],
  ])
  listeners = []
  trusted = true
  applied = 0
  reads = 0
  slowness = Promise.resolve()
  const changes: Changes = {
    commit: () => assert.fail('not used'),
    trusted: () => trusted,
    appliedEverywhere: () => assert.fail('not used'),
    get applied() {
      return applied
    },
    listen: (listener) => void listeners.push(listener),
    sendMessage: () => assert.fail('not used'),
    onMessage: () => assert.fail('not used'),
    close: async () => {},
  }
  cache = new CoherentCache({
    changes,
    read: async (key) => {
      reads++
      const value = stored.get(key) ?? null
      await slowness
      return value
    },
    isStale: (_value, key, subject, id) => subject === 'dataset' && id === key,
    maxEntries: 10,
    maxAbsent: 2,
  })
})

function change(key: string, value: string, subject: Subject = 'dataset'): void {
  stored.set(key, value)
  applied++
  for (const listener of listeners) listener(subject, key)
}

test('a value is read once, and again after a change of it, but not after a change of another', async () => {
  assert.equal(await cache.get('a'), 'a1')
  assert.equal(cache.peek('a'), 'a1')
  change('b', 'b2')
  assert.equal(cache.get('a'), 'a1')
  change('a', 'a2')
  assert.equal(cache.peek('a'), undefined)
  assert.equal(await cache.get('a'), 'a2')
  assert.equal(reads, 2)
})

test('a value that was read before a change is not cached after it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  slowness = promise
  const before = cache.get('a')
  change('a', 'a2')
  resolve()
  assert.equal(await before, 'a1')
  assert.equal(cache.peek('a'), undefined)
  assert.equal(await cache.get('a'), 'a2')
})

test('a caller that comes after a change does not share a read that began before it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  slowness = promise
  const before = [cache.get('a'), cache.get('a')]
  assert.equal(reads, 1)
  change('a', 'a2')
  const after = cache.get('a')
  assert.equal(reads, 2)
  resolve()
  assert.deepEqual(await Promise.all(before), ['a1', 'a1'])
  assert.equal(await after, 'a2')
  // The later read was not shared with, or removed by, the end of the earlier one.
  assert.equal(cache.peek('a'), 'a2')
})

test('while caches are not trusted nothing is used, shared or cached', async () => {
  await cache.get('a')
  trusted = false
  stored.set('a', 'a2')
  assert.equal(cache.peek('a'), undefined)
  assert.deepEqual(await Promise.all([cache.get('a'), cache.get('a')]), ['a2', 'a2'])
  assert.equal(reads, 3)
  // What was cached before is used again only if it was not changed; `everything` tells that it may have been.
  change('', '', 'everything')
  trusted = true
  assert.equal(await cache.get('a'), 'a2')
})

test('a read that begins or ends without trust is not cached', async () => {
  for (const [atStart, atEnd] of [
    [false, true],
    [true, false],
  ] as const) {
    const { promise, resolve } = Promise.withResolvers<void>()
    slowness = promise
    trusted = atStart
    const value = cache.get('a')
    trusted = atEnd
    resolve()
    assert.equal(await value, 'a1')
    trusted = true
    assert.equal(cache.peek('a'), undefined)
  }
})

test('a key without a value is known until the next change, and evicts no entry', async () => {
  await cache.get('a')
  for (const name of ['x', 'y', 'z']) assert.equal(await cache.get(name), null)
  assert.equal(cache.get('z'), null)
  assert.equal(reads, 4)
  assert.equal(cache.peek('a'), 'a1')
  change('z', 'z1')
  assert.equal(await cache.get('z'), 'z1')
})

test('a failed read is not cached, and the next caller reads again', async () => {
  slowness = Promise.reject(new Error('away'))
  await assert.rejects(async () => cache.get('a'), /away/)
  slowness = Promise.resolve()
  assert.equal(await cache.get('a'), 'a1')
})

test('an evicted entry is read again', async () => {
  await cache.get('a')
  cache.evict('a')
  assert.equal(await cache.get('a'), 'a1')
  assert.equal(reads, 2)
})
