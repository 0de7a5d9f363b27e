import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BLOCKED } from '../features/sliced-work.ts'
import { inBlocks } from '../testing/numbers-in-blocks.ts'
import { ListWalk } from './list-walk.ts'

test('a list that is read by blocks is walked from any position', async () => {
  // Other lists of the column are before and after it.
  const list = fc.uniqueArray(fc.nat(200), { maxLength: 60 }).map((all) => all.sort((a, b) => a - b))
  const input = fc.record({ before: list, list, after: list, shift: fc.nat(4), first: fc.nat(210) })
  await fc.assert(
    fc.asyncProperty(input, async ({ before, list, after, shift, first }) => {
      const order = inBlocks(Uint32Array.from([...before, ...list, ...after]), shift)
      const walk = new ListWalk({ order, from: before.length, to: before.length + list.length }, first)
      const walked: number[] = []
      for (let position = walk.next(); position !== -1; position = walk.next()) {
        if (position === BLOCKED) await walk.loadMissing()
        else walked.push(position)
      }
      assert.deepEqual(
        walked,
        list.filter((position) => position >= first),
      )
      assert.equal(walk.loadMissing(), null)
    }),
  )
})
