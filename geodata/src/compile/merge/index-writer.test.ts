import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildIdTable } from '../../snapshot/id-table.ts'
import { layIndex } from '../../snapshot/index-file.ts'
import { buildTree } from '../../snapshot/index-tree.ts'
import { scratch } from '../compile-fixture.ts'
import { IndexWriter } from './index-writer.ts'

/** Of its own, because other tests compile into the same scratch folder. */
const folder = join(scratch, 'index-writer')
mkdirSync(folder)

const indexes = fc.record({
  rows: fc.integer({ min: 0, max: 700 }),
  unlocated: fc.nat(3),
  isPoints: fc.boolean(),
  narrow: fc.boolean(),
  // The ids of larger tables are divided into as many partitions.
  partitionRows: fc.constantFrom(60, 300, 1000),
  seed: fc.integer({ min: 1 }),
})

test('an index that is written feature by feature has the bytes of one that is built in memory', () => {
  fc.assert(
    fc.property(indexes, ({ rows, unlocated, isPoints, narrow, partitionRows, seed }) => {
      const shape = { rows, located: Math.max(0, rows - unlocated), isPoints, narrow }
      let state = seed
      const next = () => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0
        return state
      }
      const boxes = Array.from({ length: shape.located }, () => {
        const [x, y] = [(next() % 360) - 180, (next() % 180) - 90]
        return isPoints ? ([x, y, x, y] as const) : ([x, y, x + (next() % 5), y + (next() % 5)] as const)
      })
      const hashes = Uint32Array.from({ length: rows }, next)
      const offsets = Array.from({ length: rows + 1 }, (_, i) => i * 100)

      const expected = layIndex(shape)
      expected.leaves.set(boxes.flatMap((box) => box.slice(0, isPoints ? 2 : 4)))
      expected.offsets.set(offsets)
      buildTree(expected.leaves, isPoints, expected.nodes)
      buildIdTable(hashes, expected.idStarts, expected.idPositions)

      const path = join(folder, 'written.index')
      const writer = new IndexWriter(path, shape, folder, partitionRows)
      for (const offset of offsets) writer.addOffset(offset)
      for (const hash of hashes) writer.addId(hash)
      for (const box of boxes) writer.addLeaf(...box)
      writer.finish()
      if (rows > 0) assert.deepEqual(writer.rangeOf(rows - 1), [(rows - 1) * 100, rows * 100])
      writer.close()
      assert.ok(readFileSync(path).equals(expected.bytes))
      assert.deepEqual(readdirSync(folder), ['written.index'])
    }),
    { numRuns: 50 },
  )
})

test('an index that lacks a feature is not finished', () => {
  const shape = { rows: 2, located: 2, isPoints: true, narrow: true }
  const writer = new IndexWriter(join(scratch, 'short.index'), shape, scratch)
  writer.addLeaf(1, 1, 1, 1)
  assert.throws(() => writer.finish(), /lacks 2 numbers/)
  writer.close()
})
