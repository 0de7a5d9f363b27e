import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedCache } from './bounded-cache.ts'

const keysOf = (cache: Pick<BoundedCache<string, unknown>, 'entries'>) =>
  Array.from(cache.entries(), ([key]) => key)

test('the oldest entries are evicted, and an entry that is set again is the newest', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.set('a', 3)
  cache.set('c', 4)
  assert.deepEqual(keysOf(cache), ['a', 'c'])
  assert.equal(cache.get('a'), 3)
  assert.equal(cache.get('b'), undefined)
  cache.clear()
  cache.set('d', 5)
  cache.set('e', 6)
  assert.deepEqual(keysOf(cache), ['d', 'e'])
})

test('by weight: as many as needed are evicted, and a value above the limit is not kept', () => {
  const cache = new BoundedCache<string, string>(10, (text) => text.length)
  for (const text of ['aaaa', 'bbb', 'cc']) cache.set(text[0]!, text)
  cache.set('d', 'd'.repeat(8))
  assert.deepEqual(keysOf(cache), ['c', 'd'])
  cache.set('e', 'e'.repeat(11))
  assert.deepEqual(keysOf(cache), ['c', 'd'])
  // The entry's weight is released when it is replaced or deleted.
  cache.set('d', 'dd')
  cache.delete('c')
  cache.delete('never there')
  cache.set('f', 'f'.repeat(8))
  assert.deepEqual(keysOf(cache), ['d', 'f'])
})

test('by weight: keys can count too', () => {
  const cache = new BoundedCache<string, string>(10, (text, key) => text.length + key.length)
  for (const key of ['aaa', 'bbb', 'ccc']) cache.set(key, '')
  assert.deepEqual(keysOf(cache), ['aaa', 'bbb', 'ccc'])
  cache.set('dddd', '')
  assert.deepEqual(keysOf(cache), ['bbb', 'ccc', 'dddd'])
})

test('a value of undefined counts like any other', () => {
  const cache = new BoundedCache<string, undefined>(1)
  cache.set('a', undefined)
  cache.set('b', undefined)
  assert.deepEqual(keysOf(cache), ['b'])
  cache.delete('b')
  cache.set('c', undefined)
  assert.deepEqual(keysOf(cache), ['c'])
})
