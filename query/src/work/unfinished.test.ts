import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimedWork } from './timed-work.ts'
import { begin, finish, need, type Steps, Unfinished, whenFinished } from './unfinished.ts'

const work = new TimedWork({ owner: 'test', maxMs: 60_000 })

/** Adds up numbers; those that are not in memory have to be read. */
function* sum(memory: (number | null)[], log: string[]): Steps<number> {
  let total = 0
  for (const [i, number] of memory.entries()) {
    log.push(`${i}`)
    total += number ?? (yield* need(async () => i * 100))
  }
  return total
}

test('steps whose needs are all in memory end synchronously', () => {
  assert.equal(begin(sum([1, 2, 3], [])), 6)
})

test('steps stop at the first need, read nothing before they are finished, and repeat nothing', async () => {
  const log: string[] = []
  const found = begin(sum([1, null, 3, null, 5], log))
  assert.ok(found instanceof Unfinished)
  assert.deepEqual(log, ['0', '1'])
  assert.equal(await found.finish(work), 1 + 100 + 3 + 300 + 5)
  assert.deepEqual(log, ['0', '1', '2', '3', '4'])
})

test('the next step runs at once after a value, and otherwise when the work is finished', async () => {
  const double = (value: number) => value * 2
  assert.equal(whenFinished(4, double), 8)
  const later = whenFinished(begin(sum([null, null], [])), (value) => begin(sum([value, null], [])))
  assert.ok(later instanceof Unfinished)
  assert.equal(await finish(whenFinished(later, double), work), 400)
})

test('a need that cannot be met rejects the work', async () => {
  const failing = begin(
    (function* (): Steps<number> {
      return yield* need(() => Promise.reject<number>(new Error('damaged')))
    })(),
  )
  await assert.rejects(async () => finish(failing, work), /damaged/)
})
