import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ancestorsOf, type Box, boxOf, tilesOf } from '../src/map/tile.ts'

const zoom = fc.integer({ min: 0, max: 14 })
const longitude = fc.double({ min: -179.9, max: 179.9, noNaN: true })
const latitude = fc.double({ min: -84, max: 84, noNaN: true })
const inside = ([west, south, east, north]: Box, [x, y]: [number, number]) =>
  x >= west - 1e-9 && x <= east + 1e-9 && y >= south - 1e-9 && y <= north + 1e-9

test('every place of a view is in one of its tiles', () => {
  fc.assert(
    fc.property(zoom, longitude, latitude, fc.double({ min: 0, max: 1, noNaN: true }), (z, x, y, share) => {
      const size = (360 / 2 ** z) * share
      const view: Box = [x - size, Math.max(-90, y - size), x + size, Math.min(90, y + size)]
      assert.ok(tilesOf(view, z).some((tile) => inside(boxOf(tile), [x, y])))
    }),
  )
})

test('a tile lies within each of its ancestors, the last of which is the world', () => {
  fc.assert(
    fc.property(zoom, longitude, latitude, (z, x, y) => {
      const [tile] = tilesOf([x, y, x, y], z)
      const ancestors = ancestorsOf(tile!)
      assert.equal(ancestors.length, z)
      if (z > 0) assert.equal(ancestors.at(-1), '0/0/0')
      for (const ancestor of ancestors) assert.ok(inside(boxOf(ancestor), [x, y]))
    }),
  )
})

test('the tiles of the whole world cover it once, poles and date line included', () => {
  const names = tilesOf([-540, -90, 540, 90], 2)
  assert.equal(names.length, 16)
  const boxes = names.map(boxOf)
  assert.deepEqual(
    [Math.min(...boxes.map(([west]) => west)), Math.max(...boxes.map(([, , east]) => east))],
    [-180, 180],
  )
  assert.ok(boxes.some(([, south]) => south === -90) && boxes.some(([, , , north]) => north === 90))
})
