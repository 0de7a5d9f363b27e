import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { tileIdToZxy, zxyToTileId } from 'pmtiles'
import { firstTileId, tileId, tileOf } from './tile-id.ts'

const address = fc.integer({ min: 0, max: 22 }).chain((z) =>
  fc.record({
    z: fc.constant(z),
    x: fc.integer({ min: 0, max: 2 ** z - 1 }),
    y: fc.integer({ min: 0, max: 2 ** z - 1 }),
  }),
)

test('tiles have the numbers of PMTiles, both ways', () => {
  fc.assert(
    fc.property(address, (tile) => {
      const id = tileId(tile)
      assert.equal(id, zxyToTileId(tile.z, tile.x, tile.y))
      assert.deepEqual(tileIdToZxy(id), [tile.z, tile.x, tile.y])
      assert.deepEqual(tileOf(id), { ...tile })
    }),
  )
})

test('the children of a tile follow each other', () => {
  fc.assert(
    fc.property(address, (tile) => {
      const index = tileId(tile) - firstTileId(tile.z)
      for (const [right, below] of [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ]) {
        const child = { z: tile.z + 1, x: tile.x * 2 + right!, y: tile.y * 2 + below! }
        assert.equal(Math.floor((tileId(child) - firstTileId(child.z)) / 4), index)
      }
    }),
  )
})
