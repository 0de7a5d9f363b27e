import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledColumn } from '@wayleave/geodata/features'
import fc from 'fast-check'
import { BLOCKED } from '../features/sliced-work.ts'
import { inBlocks } from '../testing/numbers-in-blocks.ts'
import { OrderWalk } from './order-walk.ts'

/** A column with these codes, whose order is read by blocks. */
function columnOf(codes: number[], codeCount: number, shift: number): CompiledColumn {
  const order = codes.map((_, row) => row).sort((a, b) => codes[a]! - codes[b]! || a - b)
  const starts = new Uint32Array(codeCount + 1)
  for (const code of codes) starts[code + 1]!++
  for (let code = 0; code < codeCount; code++) starts[code + 1]! += starts[code]!
  const none = new Uint8Array(0)
  const parts = {
    values: new Float64Array(codeCount - 1),
    codes: Uint8Array.from(codes),
    starts,
    order: null,
    blockMin: none,
    blockMax: none,
    blockCounts: null,
    edges: new Uint32Array(0),
    below: new Int32Array(0),
  }
  return new CompiledColumn('c', 'number', parts, inBlocks(Uint32Array.from(order), shift))
}

test('an order that is read by blocks is walked from any position, in both directions', async () => {
  const codeCount = 5
  const codes = fc.array(fc.nat(codeCount - 1), { minLength: 1, maxLength: 70 })
  const input = fc.record({ codes, shift: fc.nat(4), after: fc.nat(), isDescending: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(input, async ({ codes, shift, after, isDescending }) => {
      const rank = (row: number) => (codes[row] === 0 ? codeCount : isDescending ? -codes[row]! : codes[row]!)
      const expected = codes.map((_, row) => row).sort((a, b) => rank(a) - rank(b) || a - b)
      const begin = (after % (codes.length + 1)) - 1
      const walk = new OrderWalk(columnOf(codes, codeCount, shift), isDescending, begin)
      const walked: number[] = []
      for (let position = walk.next(); position !== -1; position = walk.next()) {
        if (position === BLOCKED) await walk.loadMissing()
        else walked.push(position)
      }
      assert.deepEqual(walked, expected.slice(begin === -1 ? 0 : expected.indexOf(begin) + 1))
      assert.equal(walk.loadMissing(), null)
    }),
  )
})
