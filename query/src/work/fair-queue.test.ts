import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryError } from '../query-error.ts'
import { FairQueue } from './fair-queue.ts'

const NEVER = new AbortController().signal
const isOverloaded = (error: unknown) => error instanceof QueryError && error.code === 'overloaded'

test('owners take turns, and many requests of one delay a request of another by one turn', async () => {
  const queue = new FairQueue({ capacity: 2, share: 1, maxWaitMs: 60_000 })
  const order: string[] = []
  const begin = async (owner: string, name: string) => {
    const hold = await queue.acquire(owner, 1, NEVER)
    order.push(name)
    return hold
  }
  const first = await begin('a', 'a1')
  const other = await begin('c', 'c1')
  const waiting = [begin('a', 'a2'), begin('a', 'a3'), begin('b', 'b1')]
  other.release()
  const b = await waiting[2]!
  assert.deepEqual(order, ['a1', 'c1', 'b1'], 'a has its share, so b is next although it came later')
  first.release()
  const second = await waiting[0]!
  second.release()
  second.release()
  const third = await waiting[1]!
  assert.deepEqual(order, ['a1', 'c1', 'b1', 'a2', 'a3'])
  assert.equal(queue.used, 2, 'a second release has no effect')
  third.release()
  b.release()
  assert.equal(queue.used, 0)
})

test('a request that waits too long is refused with 503, and one whose client left no longer waits', async () => {
  const queue = new FairQueue({ capacity: 2, share: 1, maxWaitMs: 20, maxWaiting: 2 })
  const hold = await queue.acquire('a', 1, NEVER)
  await assert.rejects(queue.acquire('a', 1, NEVER), isOverloaded)
  const client = new AbortController()
  const left = queue.acquire('a', 1, client.signal)
  client.abort(new Error('left'))
  await assert.rejects(left, /left/)
  const waiting = [queue.acquire('a', 1, NEVER), queue.acquire('a', 1, NEVER)]
  await assert.rejects(queue.acquire('a', 1, NEVER), isOverloaded)
  assert.equal(queue.waiting, 2)
  hold.release()
  for (const next of waiting) (await next).release()
  assert.equal(queue.used, 0)
})

test('a large request is not overtaken by small ones for ever, and what it does not need is released', async () => {
  const queue = new FairQueue({ capacity: 10, share: 8, maxWaitMs: 60_000 })
  const small = await queue.acquire('a', 4, NEVER)
  const large = queue.acquire('b', 100, NEVER)
  const later = queue.acquire('c', 1, NEVER)
  assert.equal(queue.waiting, 2)
  small.release()
  const hold = await large
  const third = await later
  assert.equal(queue.used, 9)
  hold.reduceTo(3)
  assert.equal(queue.used, 4)
  hold.release()
  third.release()
  assert.equal(queue.used, 0)
})
