import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unbroken } from '../src/explorer/map/unbroken.ts'

test('a ring across the date line is unwrapped to the side where most of it lies', () => {
  const ring = [
    [170, 60],
    [-175, 60],
    [-175, 70],
    [170, 70],
    [160, 65],
    [170, 60],
  ]
  assert.deepEqual(
    unbroken(ring).map(([x]) => x),
    [170, 185, 185, 170, 160, 170],
  )
  const western = ring.map(([x, y]) => [-x!, y!])
  assert.deepEqual(
    unbroken(western).map(([x]) => x),
    [-170, -185, -185, -170, -160, -170],
  )
})

test('rings that do not cross the date line, or run along the pole, stay unchanged', () => {
  const line = [
    [-100, 10],
    [70, 20],
  ]
  assert.equal(unbroken(line), line)
  const pole = [
    [-180, -90],
    [180, -90],
    [180, -70],
  ]
  assert.equal(unbroken(pole), pole)
})
