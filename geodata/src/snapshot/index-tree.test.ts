import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Bbox } from '../geometry/bbox.ts'
import { buildTree, IndexTree, treeNodeNumbers } from './index-tree.ts'

function treeOf(boxes: Bbox[], isPoints: boolean): IndexTree {
  const leaves = Float64Array.from(boxes.flatMap((box) => (isPoints ? box.slice(0, 2) : box)))
  const nodes = new Float64Array(treeNodeNumbers(boxes.length))
  buildTree(leaves, isPoints, nodes)
  return new IndexTree(leaves, isPoints, nodes)
}

/** A small set of coordinates, so that many boxes are equal and many edges touch. */
const longitude = fc.integer({ min: -18, max: 18 }).map((n) => n * 10)
const latitude = fc.integer({ min: -9, max: 9 }).map((n) => n * 10)
const pointBox = fc.tuple(longitude, latitude).map(([x, y]): Bbox => [x, y, x, y])
const anyBox = fc.tuple(longitude, latitude, longitude, latitude).map(ordered)
const query = fc
  .tuple(longitude, latitude, longitude, latitude)
  .map(([x1, y1, x2, y2]): Bbox => [x1, Math.min(y1, y2), x2, Math.max(y1, y2)])
const leaves = fc.boolean().chain((isPoints) => {
  return fc.record({
    isPoints: fc.constant(isPoints),
    boxes: fc.array(isPoints ? pointBox : anyBox, { maxLength: 700, size: 'max' }),
  })
})

function ordered([x1, y1, x2, y2]: [number, number, number, number]): Bbox {
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)]
}

function parts([west, south, east, north]: Bbox): Bbox[] {
  return west <= east
    ? [[west, south, east, north]]
    : [
        [west, south, 180, north],
        [-180, south, east, north],
      ]
}

function meets(a: Bbox, b: Bbox): boolean {
  return a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1]
}

function within(a: Bbox, b: Bbox): boolean {
  return a[0] >= b[0] && a[2] <= b[2] && a[1] >= b[1] && a[3] <= b[3]
}

test('a walk returns what brute force returns, in order, from any position', () => {
  fc.assert(
    fc.property(leaves, query, fc.integer({ min: 0, max: 700 }), ({ boxes, isPoints }, box, from) => {
      const expected = boxes
        .map((leaf, position) => ({ leaf, position }))
        .filter(({ leaf, position }) => position >= from && parts(box).some((part) => meets(leaf, part)))
        .map(({ leaf, position }) => [position, parts(box).some((part) => within(leaf, part))])
      const walk = treeOf(boxes, isPoints).walk(box, from)
      const found: [number, boolean][] = []
      while (walk.next()) {
        assert.ok(walk.begin < walk.end)
        for (let at = walk.begin; at < walk.end; at++) found.push([at, walk.isCertain])
      }
      assert.deepEqual(found, expected)
      assert.equal(walk.next(), false)
    }),
    { numRuns: 500 },
  )
})

test('counting agrees with searching, and stops at its budget', () => {
  fc.assert(
    fc.property(leaves, query, ({ boxes, isPoints }, box) => {
      const tree = treeOf(boxes, isPoints)
      const hits = boxes.filter((leaf) => parts(box).some((part) => meets(leaf, part)))
      const certain = boxes.filter((leaf) => parts(box).some((part) => within(leaf, part)))
      const counted = tree.countWithin(box, Infinity)!
      assert.equal(counted.certain, certain.length)
      assert.equal(counted.certain + counted.uncertain.length, hits.length)
      assert.ok(counted.uncertain.every((position) => hits.includes(boxes[position]!)))
      if (boxes.length > 0) assert.equal(tree.countWithin(box, 0), null)
    }),
    { numRuns: 200 },
  )
})

test('a world box is counted at the root', () => {
  const tree = treeOf(
    Array.from({ length: 5000 }, (_, i): Bbox => [i % 180, i % 90, i % 180, i % 90]),
    true,
  )
  assert.deepEqual(tree.countWithin([-180, -90, 180, 90], 1), { certain: 5000, uncertain: [] })
})
