import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { timeSlices } from './time-slices.ts'

/** Works until a time, and returns it. */
function workUntil(end: number): number {
  while (performance.now() < end);
  return performance.now()
}

test('work that begins in one iteration of the event loop shares a time slice', async () => {
  await nextIteration()
  const ends = Array.from({ length: 10 }, () => timeSlices.sliceEnd())
  const shared = Math.max(ends[0]!, performance.now() + 0.5)
  assert.ok(Math.max(...ends) <= shared, 'the second request got a slice of its own')
  const now = workUntil(ends.at(-1)!)
  assert.ok(timeSlices.sliceEnd() >= now + 0.5, 'a short request should be served at once')
  await nextIteration()
  await nextIteration()
  const before = performance.now()
  assert.ok(timeSlices.sliceEnd() >= before + 4, 'the next iteration has a slice of its own')
})

test('the slice of a request that continues is used up for those that begin in the same iteration', async () => {
  await nextIteration()
  await timeSlices.next('someone')
  const end = timeSlices.sliceEnd()
  workUntil(end)
  assert.ok(timeSlices.sliceEnd() > end)
  const now = performance.now()
  assert.ok(timeSlices.sliceEnd() <= performance.now() + 0.5 && timeSlices.sliceEnd() >= now)
})

test('owners take turns', async () => {
  const order: string[] = []
  const run = async (owner: string, name: string) => {
    await timeSlices.next(owner)
    order.push(name)
  }
  await Promise.all([run('one', 'one a'), run('one', 'one b'), run('one', 'one c'), run('two', 'two a')])
  assert.deepEqual(order, ['one a', 'two a', 'one b', 'one c'])
})
