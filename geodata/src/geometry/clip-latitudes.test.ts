import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clipLatitudes } from './clip-latitudes.ts'
import { geometryArbitrary } from './geometry-arbitrary.ts'
import { mapPositions } from './map-positions.ts'

test('a polygon around the pole keeps its part within the parallels, exactly', () => {
  const clipped = clipLatitudes(
    {
      type: 'Polygon',
      coordinates: [[[-180, -90], [0, -90], [0, -80, 8], [-90, -70], [-180, -80], [-180, -90]]], // biome-ignore format: one ring
    },
    85,
  )
  assert.deepEqual(clipped, {
    type: 'Polygon',
    coordinates: [
      [[-180, -85], [0, -85], [0, -85], [0, -80, 8], [-90, -70], [-180, -80], [-180, -85], [-180, -85]], // biome-ignore format: one ring
    ],
  })
  assert.deepEqual(clipLatitudes({ type: 'Point', coordinates: [3, 90, 7] }, 85), {
    type: 'Point',
    coordinates: [3, 85, 7],
  })
  assert.deepEqual(clipLatitudes({ type: 'LineString', coordinates: [[0, 80], [10, 90]] }, 85).type, 'LineString') // biome-ignore format: short
})

test('any geometry is within the parallels afterwards, and one that was already is unchanged', () => {
  fc.assert(
    fc.property(geometryArbitrary(), (geometry) => {
      const max = 60
      let isWithin = true
      mapPositions(geometry, (position) => {
        if (Math.abs(position[1] ?? 0) > max) isWithin = false
        return position
      })
      const clipped = clipLatitudes(geometry, max)
      if (isWithin) assert.deepEqual(clipped, geometry)
      mapPositions(clipped, (position) => {
        assert.ok(Math.abs(position[1] ?? 0) <= max)
        return position
      })
    }),
  )
})
