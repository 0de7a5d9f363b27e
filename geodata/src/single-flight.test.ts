import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlights, singleFlight } from './single-flight.ts'

test('concurrent calls share one run, and a later call starts a new one, also after a failure', async () => {
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

test('by key: callers with one key share a run, those with others do not', async () => {
  const flights = new SingleFlights<string, number>()
  let runs = 0
  const ask = (key: string) => flights.run(key, async () => ++runs)
  assert.deepEqual(await Promise.all([ask('a'), ask('b'), ask('a')]), [1, 2, 1])
  assert.equal(await ask('a'), 3)
  const failing = flights.run('a', async () => {
    throw new Error('away')
  })
  const settled = flights.settled()
  await assert.rejects(failing, /away/)
  await settled
  assert.equal(await ask('a'), 4)
})
