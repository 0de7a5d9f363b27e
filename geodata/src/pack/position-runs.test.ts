import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PositionRuns } from './position-runs.ts'

/** A small range of positions, so that many are adjacent. */
const positions = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 120 })

test('runs hold the positions they were given, in their order, and as few runs as there can be', () => {
  fc.assert(
    fc.property(positions, fc.nat(130), (given, count) => {
      const runs = PositionRuns.of(given)
      assert.deepEqual([...runs.toArray()], given)
      assert.equal(runs.count, given.length)
      assert.equal(runs.last, given.at(-1) ?? -1)
      assert.equal(
        runs.isAscending,
        given.every((at, i) => i === 0 || at > given[i - 1]!),
      )
      assert.equal(runs.length, given.filter((at, i) => i === 0 || at !== given[i - 1]! + 1).length)
      runs.cut(count)
      assert.deepEqual([...runs.toArray()], given.slice(0, count))
      assert.equal(runs.count, Math.min(count, given.length))
      runs.clear()
      assert.deepEqual([...runs.toArray()], [])
      runs.add(3, 6)
      assert.deepEqual([...runs.toArray()], [3, 4, 5])
    }),
  )
})
