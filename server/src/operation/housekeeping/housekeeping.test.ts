import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeLogger } from '../../http/observability/logger.ts'
import { Housekeeping } from './housekeeping.ts'

test('work runs at once and again, never twice at the same time, and ends with close', async () => {
  const housekeeping = new Housekeeping(makeLogger('silent', () => {}))
  let running = 0
  let most = 0
  let runs = 0
  const { promise: thrice, resolve } = Promise.withResolvers<void>()
  housekeeping.add('slow work', 1, async () => {
    most = Math.max(most, ++running)
    await sleep(5)
    running--
    if (++runs === 3) resolve()
  })
  await thrice
  await housekeeping.close()
  const ended = runs
  assert.equal(running, 0)
  assert.equal(most, 1)
  await sleep(20)
  assert.equal(runs, ended)
})

test('work that fails is logged by its name and tried again', async () => {
  const lines: string[] = []
  const housekeeping = new Housekeeping(makeLogger('info', (line) => lines.push(line)))
  const { promise: succeeded, resolve } = Promise.withResolvers<void>()
  let runs = 0
  housekeeping.add('sweeping', 1, async () => {
    if (++runs === 1) throw new Error('the broom broke')
    resolve()
  })
  await succeeded
  await housekeeping.close()
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /Housekeeping failed: sweeping\./)
  assert.match(lines[0]!, /the broom broke/)
})

test('queued work runs one at a time, also after a failure, and does not start after close', async () => {
  const housekeeping = new Housekeeping(makeLogger('silent', () => {}))
  const started: string[] = []
  let running = 0
  const task = (name: string) => async () => {
    started.push(name)
    assert.equal(++running, 1)
    await sleep(2)
    running--
    if (name === 'b') throw new Error('the broom broke')
  }
  for (const name of ['a', 'b', 'c']) housekeeping.addQueued(name, 60_000, task(name))
  await housekeeping.whenIdle()
  assert.deepEqual(started, ['a', 'b', 'c'])
  housekeeping.addQueued('d', 60_000, task('d'))
  housekeeping.addQueued('e', 60_000, task('e'))
  while (!started.includes('d')) await sleep(1)
  await housekeeping.close()
  assert.deepEqual(started, ['a', 'b', 'c', 'd'])
})
