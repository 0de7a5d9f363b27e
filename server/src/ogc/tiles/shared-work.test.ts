import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedWork } from './shared-work.ts'

/** Work that ends when it is told to, or is abandoned. */
function openWork() {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let begun = 0
  const work = (abandoned: AbortSignal) => {
    begun++
    abandoned.addEventListener('abort', () => reject(abandoned.reason))
    return promise
  }
  return { work, resolve, begun: () => begun }
}

test('callers share a run until it ends', async () => {
  const shared = new SharedWork<number>()
  const { signal } = new AbortController()
  const { work, resolve, begun } = openWork()
  const results = [shared.join('a', signal, work), shared.join('a', signal, work)]
  assert.equal(shared.size, 1)
  resolve(7)
  assert.deepEqual(await Promise.all(results), [7, 7])
  assert.equal(begun(), 1)
  assert.equal(shared.size, 0)
})

test('a run is aborted when the last of its callers leaves, and the next caller begins another', async () => {
  const shared = new SharedWork<number>()
  const [first, second] = [new AbortController(), new AbortController()]
  const abandoned = openWork()
  const results = [first, second].map(({ signal }) => shared.join('a', signal, abandoned.work))
  const settled = Promise.allSettled(results)
  first.abort()
  assert.equal(shared.size, 1)
  second.abort(new Error('gone'))
  assert.equal(shared.size, 0)
  const next = openWork()
  const again = shared.join('a', new AbortController().signal, next.work)
  next.resolve(8)
  assert.equal(await again, 8)
  for (const { status } of await settled) assert.equal(status, 'rejected')
  await assert.rejects(shared.join('a', second.signal, next.work), /gone/)
  assert.equal(next.begun(), 1)
})
