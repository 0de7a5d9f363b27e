import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowDigest } from './row-digest.ts'

function digestOf(...lines: string[]) {
  const digest = new RowDigest()
  for (const line of lines) digest.add(line)
  return digest.result()
}

test('a digest does not depend on the order of the rows, and tells every other difference', () => {
  const lines = Array.from({ length: 500 }, (_, index) => JSON.stringify([index, `Zürich ${index}`, null]))
  const whole = digestOf(...lines)
  assert.deepEqual(digestOf(...lines.toReversed()), whole)
  assert.match(whole.digest, /^[0-9a-f]{48}$/)
  const others = [
    digestOf(...lines.slice(1)),
    digestOf(...lines, lines[0]!),
    // With XOR, two equal rows would cancel each other out.
    digestOf(...lines, 'x', 'x'),
    digestOf(...lines.slice(1), lines[0]!.replace('Z', 'z')),
    digestOf(),
  ]
  assert.equal(new Set([whole, ...others].map(({ digest }) => digest)).size, others.length + 1)
})
