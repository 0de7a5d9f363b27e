import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { parseInTurn } from './json-bodies.ts'

const request = { ip: '127.0.0.1', headers: { 'x-api-key': 'a' } }

test('bodies that arrive in one iteration of the event loop are not all parsed in it', async () => {
  let parsed = 0
  const results: unknown[] = []
  for (let i = 0; i < 10; i++) {
    parseInTurn(
      request,
      (error) => results.push(error?.message),
      () => {
        parsed++
        const end = performance.now() + 3
        while (performance.now() < end);
        if (i === 9) throw new Error('malformed')
      },
    )
  }
  assert.equal(parsed, 1)
  while (parsed < 10) {
    const before = parsed
    await nextIteration()
    assert.ok(parsed - before <= 2, `${parsed - before} at once`)
  }
  assert.deepEqual(results, ['malformed'])
})
