import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Geometry, Position } from '../feature.ts'
import { intersectsBbox } from './intersects-bbox.ts'
import { pointOnSurface } from './point-on-surface.ts'

test('the point of a C-shaped polygon with a hole lies on it, where its centre does not', () => {
  const shape: Geometry = {
    type: 'Polygon',
    coordinates: [
      [
        [0, 0],
        [10, 0],
        [10, 2],
        [4, 2],
        [4, 8],
        [10, 8],
        [10, 10],
        [0, 10],
        [0, 0],
      ],
      [
        [1, 4],
        [1, 6],
        [3, 6],
        [3, 4],
        [1, 4],
      ],
    ],
  }
  const [x, y] = pointOnSurface(shape) as [number, number]
  assert.ok(intersectsBbox(shape, [x, y, x, y]))
})

test('a geometry may have more members than a call takes arguments', () => {
  const members = Array.from({ length: 300_000 }, (_, i): Position => [i / 300_000, 1])
  assert.deepEqual(pointOnSurface({ type: 'MultiPoint', coordinates: members }), [0, 1])
  const lines = members.map(([x, y]) => [
    [x!, y!],
    [x!, y! + 1],
  ])
  assert.deepEqual(pointOnSurface({ type: 'MultiLineString', coordinates: lines }), [0, 1.5])
})

test('the point of any star-shaped polygon lies on it', () => {
  const radii = fc.array(fc.double({ min: 0.01, max: 1, noNaN: true }), { minLength: 3, maxLength: 40 })
  fc.assert(
    fc.property(radii, (lengths) => {
      const ring = lengths.map((length, i): Position => {
        const angle = (i / lengths.length) * 2 * Math.PI
        return [Math.cos(angle) * length, Math.sin(angle) * length]
      })
      const shape: Geometry = { type: 'Polygon', coordinates: [[...ring, ring[0]!]] }
      const [x, y] = pointOnSurface(shape) as [number, number]
      // The longest stretch inside is wider than the rounding error of its middle.
      assert.ok(intersectsBbox(shape, [x - 1e-12, y - 1e-12, x + 1e-12, y + 1e-12]))
    }),
  )
})

test('a line is represented by the middle of its length, a collection by its largest surface', () => {
  const line: Geometry = {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1, 0],
      [1, 3],
    ],
  }
  assert.deepEqual(pointOnSurface(line), [1, 1])
  const square = (x: number, size: number): Position[][] => [
    [
      [x, 0],
      [x + size, 0],
      [x + size, size],
      [x, size],
      [x, 0],
    ],
  ]
  const collection: Geometry = {
    type: 'GeometryCollection',
    geometries: [line, { type: 'MultiPolygon', coordinates: [square(20, 1), square(50, 4)] }],
  }
  assert.deepEqual(pointOnSurface(collection), [52, 2])
})

test('an empty geometry has no point', () => {
  assert.equal(pointOnSurface({ type: 'Point', coordinates: [] }), null)
  assert.equal(pointOnSurface({ type: 'Polygon', coordinates: [] }), null)
  assert.equal(pointOnSurface({ type: 'GeometryCollection', geometries: [] }), null)
})
