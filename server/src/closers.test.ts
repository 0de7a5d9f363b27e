import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Closers } from './closers.ts'
import { makeLogger } from './http/logger.ts'

test('parts are closed in the opposite order, and one that hangs or fails is named and does not stop the others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const closers = new Closers(makeLogger('info', (line) => lines.push(line)))
  const closed: string[] = []
  closers.defer(() => closed.push('first'), 'the first')
  closers.defer(() => new Promise(() => {}), 'the hanging')
  closers.defer(() => Promise.reject(new Error('no')), 'the failing')
  closers.defer(() => closed.push('last'), 'the last')
  const outcome = assert.rejects(closers.close(), {
    name: 'NotClosedError',
    message: 'Not closed: the failing, the hanging.',
  })
  assert.equal(closers.close(), closers.close())
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(1000)
  }
  await outcome
  assert.deepEqual(closed, ['last', 'first'])
  assert.ok(lines.some((line) => line.includes('the hanging did not close in time')))
  assert.ok(lines.some((line) => line.includes('the failing failed to close')))
})
