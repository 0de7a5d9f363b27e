import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildTree, IndexTree, type PositionBits, treeNodeNumbers } from '@wayleave/geodata/features'
import fc from 'fast-check'
import { positionsInBox } from './positions-in-box.ts'

const coordinate = fc.integer({ min: -20, max: 20 })

test('the set of a box holds the points in it, in order, and sets intersect', async () => {
  const points = fc.array(fc.tuple(coordinate, coordinate), { minLength: 1, maxLength: 400 })
  const box = fc.tuple(coordinate, coordinate, coordinate, coordinate)
  await fc.assert(
    fc.asyncProperty(points, box, box, async (places, one, other) => {
      const leaves = Float64Array.from(places.flat())
      const nodes = new Float64Array(treeNodeNumbers(places.length))
      buildTree(leaves, true, nodes)
      const tree = IndexTree.of(leaves, true, nodes)
      const members = ([west, south, east, north]: [number, number, number, number]) =>
        places.flatMap(([x, y], i) => {
          const between = west <= east ? x >= west && x <= east : x >= west || x <= east
          return between && y >= south && y <= north ? [i] : []
        })
      const listed = (set: PositionBits) => {
        const all: number[] = []
        for (let at = set.next(0); at !== -1; at = set.next(at + 1)) all.push(at)
        assert.equal(set.count(), all.length)
        assert.equal(set.last(), all.at(-1) ?? -1)
        return all
      }
      const set = await positionsInBox(tree, places.length + 3, one)
      assert.deepEqual(listed(set), members(one))
      set.intersect(await positionsInBox(tree, places.length + 3, other))
      const both = new Set(members(other))
      assert.deepEqual(
        listed(set),
        members(one).filter((i) => both.has(i)),
      )
    }),
  )
})
