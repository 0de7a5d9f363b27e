import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Bbox } from '../geometry/bbox.ts'
import { type BlockSource, DOUBLES, IndexNumbers } from './index-numbers.ts'
import { buildTree, IndexTree, treeNodeNumbers } from './index-tree.ts'

/** Blocks of numbers of which at most `max` are in memory. */
function blocksOf(numbers: Float64Array, blockBytes: number, max: number): BlockSource {
  const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  const held = new Map<number, { bytes: Buffer; numbers: null }>()
  return {
    peek: (number) => held.get(number),
    async load(number) {
      const room = Buffer.allocUnsafeSlow(Math.min(blockBytes, bytes.length - number * blockBytes))
      bytes.copy(room, 0, number * blockBytes)
      const block = { bytes: room, numbers: null }
      held.set(number, block)
      if (held.size > max) held.delete(held.keys().next().value!)
      return block
    },
    leave() {},
  }
}

/** The same tree in blocks of so many nodes and leaves, with the last block of nodes always in memory. */
function pagedTreeOf(boxes: Bbox[], isPoints: boolean, [leafShift, nodeShift]: [number, number]): IndexTree {
  const leaves = Float64Array.from(boxes.flatMap((box) => (isPoints ? box.slice(0, 2) : box)))
  const nodes = new Float64Array(treeNodeNumbers(boxes.length))
  buildTree(leaves, isPoints, nodes)
  const width = isPoints ? 2 : 4
  const upper: Float64Array[] = []
  const lastBlock = Math.max(0, Math.ceil(nodes.length / 4 / 2 ** nodeShift) - 1)
  upper[lastBlock] = nodes.subarray(lastBlock * 4 * 2 ** nodeShift)
  return new IndexTree(
    boxes.length,
    isPoints,
    new IndexNumbers(
      { width, shift: leafShift },
      [],
      blocksOf(leaves, width * 8 * 2 ** leafShift, 2),
      DOUBLES.view,
    ),
    new IndexNumbers(
      { width: 4, shift: nodeShift },
      upper,
      blocksOf(nodes, 32 * 2 ** nodeShift, 2),
      DOUBLES.view,
    ),
  )
}

function treeOf(boxes: Bbox[], isPoints: boolean): IndexTree {
  const leaves = Float64Array.from(boxes.flatMap((box) => (isPoints ? box.slice(0, 2) : box)))
  const nodes = new Float64Array(treeNodeNumbers(boxes.length))
  buildTree(leaves, isPoints, nodes)
  return IndexTree.of(leaves, isPoints, nodes)
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

/** Sizes of blocks, as powers of two: a block of leaves has whole nodes. */
const shifts = fc.tuple(fc.integer({ min: 4, max: 6 }), fc.integer({ min: 0, max: 4 }))

test('a search in blocks that have to be read finds the same as one in memory', async () => {
  await fc.assert(
    fc.asyncProperty(leaves, query, fc.nat(700), shifts, async ({ boxes, isPoints }, box, from, sizes) => {
      const whole = treeOf(boxes, isPoints)
      const paged = pagedTreeOf(boxes, isPoints, sizes)
      const expected: number[][] = []
      for (const walk = whole.walk(box, from); walk.next(); )
        expected.push([walk.begin, walk.end, Number(walk.isCertain)])
      const found: number[][] = []
      const walk = paged.walk(box, from)
      do {
        if (walk.isBlocked) await paged.loadMissing()
        while (walk.next()) found.push([walk.begin, walk.end, Number(walk.isCertain)])
      } while (walk.isBlocked)
      assert.deepEqual(found, expected)

      const inParts = (size: number) =>
        new Set(
          boxes.flatMap((leaf, position) =>
            parts(box).some((part) => meets(leaf, part)) ? [Math.floor(position / size)] : [],
          ),
        )
      for (const size of [7, 64]) assert.deepEqual(await paged.partsIn(box, size), inParts(size))

      const decide = (west: number, south: number, east: number, north: number) =>
        meets([west, south, east, north], box)
          ? within([west, south, east, north], box)
            ? true
            : undefined
          : false
      const runs: { begin: number; end: number }[] = []
      for (const { begin, end, isBlocked } of paged.runsWhere(decide, from)) {
        if (isBlocked) await paged.loadMissing()
        else if (begin < end) runs.push({ begin, end })
      }
      const wholeRuns = [...whole.runsWhere(decide, from)].filter(({ begin, end }) => begin < end)
      assert.deepEqual(
        runs,
        wholeRuns.map(({ begin, end }) => ({ begin, end })),
      )
    }),
    { numRuns: 300 },
  )
})

test('boxes and counts of a tree in blocks are those of the tree in memory', async () => {
  await fc.assert(
    fc.asyncProperty(leaves, query, shifts, async ({ boxes, isPoints }, box, sizes) => {
      const whole = treeOf(boxes, isPoints)
      const paged = pagedTreeOf(boxes, isPoints, sizes)
      let counted = paged.countByPinned(box, Infinity)
      if (counted !== null) assert.deepEqual(counted, whole.countWithin(box, Infinity))
      for (const [position, expected] of boxes.entries()) {
        if (paged.box(position) === undefined) await paged.loadMissing()
        assert.deepEqual(paged.box(position), expected)
      }
      // Two blocks in memory are too few for a count that begins again when it is blocked.
      const wide = pagedTreeOf(boxes, isPoints, [10, 10])
      for (counted = null; counted === null; ) {
        const result = wide.countWithin(box, Infinity)
        if (result === undefined) await wide.loadMissing()
        else counted = result
      }
      assert.deepEqual(counted, whole.countWithin(box, Infinity))
      const size = 2 ** sizes[0]
      for (let from = 0; from < boxes.length; from += size) {
        const bounds = paged.boundsOf(from, Math.min(boxes.length, from + size))
        const own = boxes.slice(from, from + size)
        if (bounds) assert.ok(own.every((leaf) => within(leaf, bounds)))
      }
    }),
    { numRuns: 100 },
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
