import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Bbox, roundOutward } from './bbox.ts'

test('a rounded box holds the box, and no more of the world than there is', () => {
  const longitude = fc.double({ min: -180, max: 180, noNaN: true })
  const latitude = fc.double({ min: -90, max: 90, noNaN: true })
  fc.assert(
    fc.property(longitude, latitude, longitude, latitude, (a, b, c, d) => {
      const box: Bbox = [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)]
      const [west, south, east, north] = roundOutward(box)
      assert.ok(west <= box[0] && south <= box[1] && east >= box[2] && north >= box[3])
      assert.ok(west >= -180 && south >= -90 && east <= 180 && north <= 90)
      for (const [side, value] of [west, south, east, north].entries())
        assert.ok(Math.abs(value - box[side]!) < 1.1e-7)
    }),
  )
  assert.deepEqual(roundOutward([4.123456789, -1.5, 5.123456712, 90]), [4.1234567, -1.5, 5.1234568, 90])
})
