import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hilbertKey, UNLOCATED_KEY } from './hilbert.ts'

test('cells that follow each other on the curve are neighbours on the ground', () => {
  const side = 64
  const keys: { key: number; x: number; y: number }[] = []
  for (let x = 0; x < side; x++)
    for (let y = 0; y < side; y++)
      keys.push({ key: hilbertKey(((x + 0.5) / side) * 360 - 180, ((y + 0.5) / side) * 180 - 90), x, y })
  keys.sort((a, b) => a.key - b.key)
  for (let i = 1; i < keys.length; i++) {
    const [a, b] = [keys[i - 1]!, keys[i]!]
    assert.equal(Math.abs(a.x - b.x) + Math.abs(a.y - b.y), 1)
  }
})

test('a key is an exact integer below that of features without a place, to the corners of the world', () => {
  const longitude = fc.double({ min: -180, max: 180, noNaN: true })
  const latitude = fc.double({ min: -90, max: 90, noNaN: true })
  fc.assert(
    fc.property(longitude, latitude, (x, y) => {
      const key = hilbertKey(x, y)
      assert.ok(Number.isSafeInteger(key) && key >= 0 && key < UNLOCATED_KEY)
    }),
  )
  for (const [x, y] of [
    [-180, -90],
    [180, 90],
    [180, -90],
    [-180, 90],
  ] as const)
    assert.ok(hilbertKey(x, y) < UNLOCATED_KEY)
})
