import assert from 'node:assert/strict'
import { test } from 'node:test'
import { degreesPerPixel, middleOf, movedBy, type View, zoomedBy } from '../src/datasets/map-view.ts'

const HOME: View = { x: 0, y: -10, width: 40, height: 20 }

test('a view is moved by degrees, and its middle stays on the world', () => {
  assert.deepEqual(movedBy(HOME, 5, -2), { ...HOME, x: 5, y: -12 })
  assert.deepEqual(middleOf(movedBy(HOME, 1000, -1000)), { x: 180, y: -90 })
})

test('a zoom keeps the place under the pointer, and ends at what the picture can show', () => {
  const at = { x: 10, y: -5 }
  const near = zoomedBy(HOME, 2, HOME, at)
  assert.deepEqual(near, { x: 5, y: -7.5, width: 20, height: 10 })
  assert.deepEqual(zoomedBy(near, 0.5, HOME, at), HOME, 'and back')
  const nearest = zoomedBy(HOME, 1e6, HOME)
  assert.ok(nearest.width > 3 && nearest.width < 4)
  assert.equal(zoomedBy(HOME, 1e-6, HOME).width, 360)
})

test('a view fits into its frame', () => {
  assert.equal(degreesPerPixel(HOME, { width: 400, height: 400 }), 0.1)
  assert.equal(degreesPerPixel(HOME, { width: 400, height: 100 }), 0.2)
})
