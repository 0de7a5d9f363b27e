import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { timeSlices } from '../time-slices.ts'
import { inSlices } from './in-slices.ts'

const ROWS = 1 << 17

function useUpSlice(): void {
  const end = timeSlices.sliceEnd()
  while (performance.now() < end);
}

test('columns that are loaded at once use one time slice of an iteration together', async () => {
  await nextIteration()
  let steps = 0
  const step = () => {
    steps++
    useUpSlice()
  }
  const loading = Promise.all(Array.from({ length: 5 }, () => inSlices(ROWS, step))).then(() => true)
  for (let isDone = false; !isDone; ) {
    assert.ok(steps <= 1, `${steps} steps that use up a slice ran in one iteration`)
    steps = 0
    isDone = await Promise.race([loading, nextIteration(false)])
  }
})

test('loading waits for the next iteration if a search has used up the slice, and does every row once', async () => {
  await nextIteration()
  useUpSlice()
  const rows = new Uint8Array(ROWS + 5)
  const loading = inSlices(rows.length, (from, to) => {
    for (let row = from; row < to; row++) rows[row]!++
  })
  assert.equal(rows[0], 0)
  await loading
  assert.ok(rows.every((count) => count === 1))
})
