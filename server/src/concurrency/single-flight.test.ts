import assert from 'node:assert/strict'
import { test } from 'node:test'
import { singleFlight } from './single-flight.ts'

test('many questions at once are one run, and the next question is a new one, after a failure too', async () => {
  let runs = 0
  const ask = singleFlight(async () => {
    if (++runs === 2) throw new Error('away')
    return runs
  })
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  const failed = await Promise.allSettled([ask(), ask()])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await ask(), 3)
})
