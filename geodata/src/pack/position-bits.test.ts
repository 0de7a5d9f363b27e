import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PositionBits } from './position-bits.ts'

const SIZE = 200
const position = fc.nat(SIZE - 1)

test('a set has the positions and runs that were added, in ascending order, below any limit', () => {
  const runs = fc.array(fc.tuple(position, fc.nat(70)), { maxLength: 5 })
  fc.assert(
    fc.property(fc.array(position), fc.array(position), runs, fc.nat(SIZE), (single, rows, runs, limit) => {
      const bits = PositionBits.empty(SIZE)
      const expected = new Set([...single, ...rows])
      for (const one of single) bits.add(one)
      // What is behind the count is left from earlier rows.
      bits.addFirst(rows.length, Uint32Array.from([...rows, SIZE - 1]))
      for (const [begin, length] of runs) {
        const end = Math.min(SIZE, begin + length)
        bits.addRun(begin, end)
        for (let one = begin; one < end; one++) expected.add(one)
      }
      const received = PositionBits.of(bits.bytes)
      const inTurn: number[] = []
      for (let one = received.next(0); one !== -1; one = received.next(one + 1)) inTurn.push(one)
      assert.deepEqual(
        inTurn,
        [...expected].sort((a, b) => a - b),
      )
      const all = Array.from({ length: SIZE }, (_, i) => i)
      assert.deepEqual(
        all.filter((one) => received.has(one)),
        all.filter((one) => expected.has(one)),
      )
      assert.deepEqual(
        [...received.listBelow(limit)],
        all.filter((one) => one < limit && expected.has(one)),
      )
    }),
  )
})
