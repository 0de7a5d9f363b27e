import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleCores } from './idle-cores.ts'
import { StepQueue } from './step-queue.ts'

const GIGABYTE = 2 ** 30

test('while the cores are idle and there is memory, more pieces run than usual, up to a limit', async () => {
  const queue = new StepQueue(2)
  const ends: (() => void)[] = []
  const pieces = Array.from({ length: 6 }, () =>
    queue.add(() => new Promise<void>((resolve) => ends.push(resolve))),
  )
  const idleCores = new IdleCores(queue, 4, () => ({ total: 0, idle: 0 }))
  idleCores.stop()
  const times = { total: 0, idle: 0 }
  /** What has started after seconds in which the cores were idle for a share of the time. */
  const startedAfter = async (idle: number, freeMemory = 16 * GIGABYTE) => {
    times.total += 10_000
    times.idle += idle * 10_000
    idleCores.note({ ...times }, freeMemory)
    await Promise.resolve()
    return ends.length
  }
  assert.equal(await startedAfter(0.2), 2)
  assert.equal(await startedAfter(0.3), 3)
  assert.equal(await startedAfter(0.9, GIGABYTE), 3)
  assert.equal(await startedAfter(0.3), 4)
  assert.equal(await startedAfter(0.3), 4)
  // Those beyond the usual number are not replaced by themselves.
  for (const end of ends.slice(0, 2)) end()
  await Promise.all(pieces.slice(0, 2))
  assert.equal(ends.length, 4)
  assert.equal(queue.running, 2)
  ends[2]!()
  await pieces[2]
  assert.equal(ends.length, 5)
  for (const end of ends.slice(3)) end()
  await pieces[4]
  ends[5]!()
  await Promise.all(pieces)
  assert.equal(queue.running, 0)
})
