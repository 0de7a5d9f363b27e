import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { validGeometryArbitrary } from '../compile/valid-geometry-arbitrary.ts'
import type { Geometry } from '../feature.ts'
import { prepare, relates } from '../predicates/predicates.ts'
import type { Bbox } from './bbox.ts'
import { intersectsBbox } from './intersects-bbox.ts'

const donut: Geometry = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
      [0, 0],
    ],
    [
      [2, 2],
      [2, 8],
      [8, 8],
      [8, 2],
      [2, 2],
    ],
  ],
}

test('a box in a hole does not meet the polygon; one on its edge, inside its ring or around it does', () => {
  assert.equal(intersectsBbox(donut, [3, 3, 7, 7]), false)
  assert.equal(intersectsBbox(donut, [2, 3, 7, 7]), true)
  assert.equal(intersectsBbox(donut, [0.5, 0.5, 1, 1]), true)
  assert.equal(intersectsBbox(donut, [-5, -5, 15, 15]), true)
  assert.equal(intersectsBbox(donut, [11, 11, 12, 12]), false)
})

test('a box of no area is valid: a point or a line', () => {
  assert.equal(intersectsBbox(donut, [1, 1, 1, 1]), true)
  assert.equal(intersectsBbox(donut, [5, 5, 5, 5]), false)
  assert.equal(intersectsBbox(donut, [5, 5, 5, 9]), true)
  assert.equal(intersectsBbox({ type: 'Point', coordinates: [1, 2] }, [1, 2, 1, 2]), true)
})

test('a line past a corner does not meet the box though its extent does', () => {
  const line: Geometry = {
    type: 'LineString',
    coordinates: [
      [0, 10],
      [10, 0],
    ],
  }
  assert.equal(intersectsBbox(line, [0, 0, 4, 4]), false)
  assert.equal(intersectsBbox(line, [0, 0, 5, 5]), true)
})

test('a box across the antimeridian meets both of its sides', () => {
  const box: Bbox = [170, -10, -170, 10]
  assert.equal(intersectsBbox({ type: 'Point', coordinates: [175, 0] }, box), true)
  assert.equal(intersectsBbox({ type: 'Point', coordinates: [-175, 0] }, box), true)
  assert.equal(intersectsBbox({ type: 'Point', coordinates: [0, 0] }, box), false)
})

test('an empty geometry meets nothing', () => {
  assert.equal(intersectsBbox({ type: 'Point', coordinates: [] }, [-180, -90, 180, 90]), false)
  assert.equal(intersectsBbox({ type: 'GeometryCollection', geometries: [] }, [-180, -90, 180, 90]), false)
})

test('the result equals that of the exact predicate on the box as a polygon', () => {
  const coordinate = fc.integer({ min: -9, max: 9 }).map((n) => n * 10)
  const box = fc.tuple(coordinate, coordinate, coordinate, coordinate)
  fc.assert(
    fc.property(validGeometryArbitrary(), box, (geometry, [x1, y1, x2, y2]) => {
      const [west, south, east, north] = [
        Math.min(x1, x2),
        Math.min(y1, y2),
        Math.max(x1, x2),
        Math.max(y1, y2),
      ]
      fc.pre(west < east && south < north && isSimple(geometry))
      const ring = [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ]
      const expected = relates('intersects', prepare({ type: 'Polygon', coordinates: [ring] }), geometry)
      assert.equal(intersectsBbox(geometry, [west, south, east, north]), expected)
    }),
    { numRuns: 500 },
  )
})

test('the same of outlines with hundreds of corners, around, beside and inside a box', () => {
  const radii = fc.array(fc.integer({ min: 5, max: 9 }), { minLength: 30, maxLength: 300 })
  const corner = fc.integer({ min: -20, max: 20 }).map((n) => n / 2)
  fc.assert(
    fc.property(radii, fc.tuple(corner, corner, corner, corner), (lengths, [x1, y1, x2, y2]) => {
      const [west, south, east, north] = [
        Math.min(x1, x2),
        Math.min(y1, y2),
        Math.max(x1, x2),
        Math.max(y1, y2),
      ]
      fc.pre(west < east && south < north)
      const star = (scale: number) => {
        const ring = lengths.map((length, i) => {
          const angle = (i / lengths.length) * 2 * Math.PI
          return [length * scale * Math.cos(angle), length * scale * Math.sin(angle)]
        })
        return [...ring, ring[0]!]
      }
      const box = prepare({
        type: 'Polygon',
        coordinates: [
          [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
            [west, south],
          ],
        ],
      })
      const shapes: Geometry[] = [
        { type: 'Polygon', coordinates: [star(1), star(0.5).reverse()] },
        { type: 'LineString', coordinates: star(0.8) },
        { type: 'MultiPolygon', coordinates: [[star(0.3)], [star(1), star(0.6).reverse()]] },
      ]
      for (const shape of shapes) {
        assert.equal(intersectsBbox(shape, [west, south, east, north]), relates('intersects', box, shape))
      }
    }),
    { numRuns: 300 },
  )
})

/** Random rings intersect themselves, which makes their interior undefined; triangles cannot. */
function isSimple(geometry: Geometry): boolean {
  if (geometry.type === 'Polygon')
    return geometry.coordinates.length <= 1 && (geometry.coordinates[0]?.length ?? 4) === 4
  if (geometry.type === 'MultiPolygon') return geometry.coordinates.length === 0
  return geometry.type !== 'GeometryCollection' || geometry.geometries.every(isSimple)
}
