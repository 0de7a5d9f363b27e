import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countriesGeojson } from './world.ts'

test('no edge of a country runs around the world, and every country is there', () => {
  const { features } = countriesGeojson()
  assert.equal(features.length, 241)
  let rings = 0
  for (const { properties, geometry } of features) {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') continue
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    for (const ring of polygons.flat()) {
      rings++
      assert.deepEqual(ring[0], ring.at(-1), `${properties.name} has closed rings`)
      ring.reduce((before, here) => {
        const isPole = Math.abs(here[1]!) === 90 && Math.abs(before[1]!) === 90
        assert.ok(
          isPole || Math.abs(here[0]! - before[0]!) <= 180,
          `${properties.name} at ${before} to ${here}`,
        )
        assert.ok(Math.abs(here[0]!) <= 180 && Math.abs(here[1]!) <= 90)
        return here
      })
    }
  }
  assert.ok(rings > 1000)
  const types = new Set(features.map(({ geometry }) => geometry.type))
  assert.deepEqual([...types].sort(), ['MultiPolygon', 'Polygon'])
})
