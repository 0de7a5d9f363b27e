import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases, lacks } from '../../../scripts/test-run/needs.ts'
import type { Geometry, Position } from '../feature.ts'
import { orient2d } from './orient2d.ts'
import { matches, prepare, RelationCostError, relates, type SpatialPredicate } from './predicates.ts'
import { relate } from './relate.ts'

const PREDICATES: SpatialPredicate[] = [
  'intersects',
  'disjoint',
  'equals',
  'touches',
  'within',
  'contains',
  'crosses',
  'overlaps',
]

const point = (x: number, y: number): Geometry => ({ type: 'Point', coordinates: [x, y] })
const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const collection = (...geometries: Geometry[]): Geometry => ({ type: 'GeometryCollection', geometries })
const box = (west: number, south: number, east: number, north: number): Geometry =>
  polygon([
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ])

function trueOf(a: Geometry, b: Geometry): string[] {
  return PREDICATES.filter((predicate) => relates(predicate, a, b))
}

test('the predicates return what Simple Features defines', () => {
  const holed = polygon(
    [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 9],
      [0, 0],
    ],
    [
      [3, 3],
      [6, 3],
      [6, 6],
      [3, 6],
      [3, 3],
    ],
  )
  assert.deepEqual(trueOf(point(1, 1), holed), ['intersects', 'within'])
  assert.deepEqual(trueOf(point(4, 4), holed), ['disjoint'])
  assert.deepEqual(trueOf(point(3, 4), holed), ['intersects', 'touches'])
  assert.deepEqual(trueOf(box(4, 4, 5, 5), holed), ['disjoint'])
  assert.deepEqual(trueOf(box(3, 3, 6, 6), holed), ['intersects', 'touches'])
  assert.deepEqual(trueOf(holed, box(1, 1, 2, 2)), ['intersects', 'contains'])
  assert.deepEqual(trueOf(box(0, 0, 2, 2), box(2, 0, 4, 2)), ['intersects', 'touches'])
  assert.deepEqual(trueOf(box(0, 0, 2, 2), box(1, 1, 3, 3)), ['intersects', 'overlaps'])
  assert.deepEqual(trueOf(line([0, 0], [4, 4]), line([0, 4], [4, 0])), ['intersects', 'crosses'])
  assert.deepEqual(trueOf(line([0, 0], [2, 0]), line([1, 0], [3, 0])), ['intersects', 'overlaps'])
  assert.deepEqual(trueOf(line([-1, 1], [3, 1]), box(0, 0, 2, 2)), ['intersects', 'crosses'])
  assert.deepEqual(trueOf(line([0, 0], [2, 0]), box(0, 0, 2, 2)), ['intersects', 'touches'])
  assert.deepEqual(trueOf(point(1, 1), point(1, 1)), ['intersects', 'equals', 'within', 'contains'])
})

test('areas of a collection that share an edge have it in their common interior', () => {
  const halves = collection(box(0, 0, 1, 2), box(1, 0, 2, 2))
  assert.deepEqual(trueOf(halves, box(0, 0, 2, 2)), ['intersects', 'equals', 'within', 'contains'])
  assert.deepEqual(trueOf(point(1, 1), halves), ['intersects', 'within'])
  assert.deepEqual(trueOf(point(1, 0), halves), ['intersects', 'touches'])
  const quarters = collection(box(0, 0, 1, 1), box(1, 0, 2, 1), box(0, 1, 1, 2), box(1, 1, 2, 2))
  assert.deepEqual(trueOf(point(1, 1), quarters), ['intersects', 'within'])
  const gap = collection(box(0, 0, 1, 1), box(1, 0, 2, 1), box(0, 1, 1, 2))
  assert.deepEqual(trueOf(point(1, 1), gap), ['intersects', 'touches'])
})

test('an empty geometry is disjoint from everything and equal only to another empty one', () => {
  const empties: Geometry[] = [
    { type: 'Point', coordinates: [] },
    { type: 'LineString', coordinates: [] },
    { type: 'MultiPolygon', coordinates: [] },
    collection(),
  ]
  for (const empty of empties) {
    assert.deepEqual(trueOf(empty, box(0, 0, 1, 1)), ['disjoint'])
    assert.deepEqual(trueOf(point(0, 0), empty), ['disjoint'])
    assert.deepEqual(trueOf(empty, empty), ['disjoint', 'equals'])
  }
})

test('a crossing that no double can represent is distinguished from a touch', () => {
  const third = line([0, 0], [1, 3])
  const through = line([0, 1], [1, 1])
  assert.deepEqual(trueOf(third, through), ['intersects', 'crosses'])
  // 0.1 + 0.2 is not 0.3: the point is off the line by one unit in the last place.
  assert.deepEqual(trueOf(point(0.1 + 0.2, 0.3), line([0, 0], [1, 1])), ['disjoint'])
  assert.deepEqual(trueOf(point(0.3, 0.3), line([0, 0], [1, 1])), ['intersects', 'within'])
})

test('the side of a line is exact for any doubles', () => {
  const exact = (values: number[]): number => {
    const [ax, ay, bx, by, cx, cy] = values.map(rational) as [bigint, bigint, bigint, bigint, bigint, bigint]
    const determinant = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx)
    return determinant > 0n ? 1 : determinant < 0n ? -1 : 0
  }
  // Scaled by 2^1074 every double is an integer; it is built from the bits of the double.
  const rational = (value: number): bigint => {
    const view = new DataView(new ArrayBuffer(8))
    view.setFloat64(0, value)
    const bits = view.getBigUint64(0)
    const exponent = (bits >> 52n) & 0x7ffn
    const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0n ? 0n : 1n << 52n)
    const size = mantissa << (exponent === 0n ? 0n : exponent - 1n)
    return bits >> 63n === 1n ? -size : size
  }
  const coordinate = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 }),
    fc.integer({ min: -4, max: 4 }).map((n) => n / 10),
    fc.integer({ min: -3, max: 3 }).map((n) => 0.5 + n * 2 ** -53),
  )
  fc.assert(
    fc.property(fc.array(coordinate, { minLength: 6, maxLength: 6 }), (values) => {
      const [ax, ay, bx, by, cx, cy] = values as [number, number, number, number, number, number]
      assert.equal(Math.sign(orient2d(ax, ay, bx, by, cx, cy)) + 0, exact(values))
    }),
    { numRuns: cases(2500) },
  )
})

const grid = fc.integer({ min: 0, max: 6 }).map((n) => n / 2)
const place = fc.tuple(grid, grid) as fc.Arbitrary<Position>
const anyLine = fc.array(place, { minLength: 2, maxLength: 5 }).map((places) => line(...places))
const triangle = fc
  .tuple(place, place, place)
  .filter(([a, b, c]) => orient2d(a[0]!, a[1]!, b[0]!, b[1]!, c[0]!, c[1]!) !== 0)
  .map(([a, b, c]) => polygon([a, b, c, a]))
const single = fc.oneof(
  place.map(([x, y]) => point(x!, y!)),
  anyLine,
  triangle,
)
const anyGeometry: fc.Arbitrary<Geometry> = fc.oneof(
  single,
  fc.array(single, { minLength: 1, maxLength: 3 }).map((members) => collection(...members)),
)

test('the fast intersection test agrees with the whole relation, prepared or not', () => {
  fc.assert(
    fc.property(anyGeometry, anyGeometry, (a, b) => {
      const expected = !matches(relate(prepare(a), prepare(b)), 'FF*FF****')
      assert.equal(relates('intersects', a, b), expected)
      assert.equal(relates('intersects', prepare(a), b), expected)
      assert.equal(relates('intersects', a, prepare(b)), expected)
      assert.equal(relates('disjoint', b, a), !expected)
    }),
    { numRuns: cases(1500) },
  )
})

test('swapping the geometries turns the relation about', () => {
  fc.assert(
    fc.property(anyGeometry, anyGeometry, (a, b) => {
      const there = relate(prepare(a), prepare(b))
      const back = relate(prepare(b), prepare(a))
      assert.deepEqual(
        [0, 3, 6, 1, 4, 7, 2, 5, 8].map((cell) => back[cell]),
        [...there],
      )
    }),
    { numRuns: cases(1000) },
  )
})

test('a geometry equals itself run backwards with a vertex more in the middle of each edge', () => {
  const halve = (places: Position[]): Position[] =>
    places.flatMap(([x, y], i) => {
      const [beforeX, beforeY] = places[i - 1] ?? [x, y]
      return i === 0
        ? [[x!, y!]]
        : [
            [(x! + beforeX!) / 2, (y! + beforeY!) / 2],
            [x!, y!],
          ]
    })
  const redraw = (geometry: Geometry): Geometry => {
    if (geometry.type === 'LineString') return line(...halve(geometry.coordinates).reverse())
    if (geometry.type === 'Polygon') return polygon(...geometry.coordinates.map((r) => halve(r).reverse()))
    return geometry.type === 'GeometryCollection'
      ? collection(...geometry.geometries.map(redraw).reverse())
      : geometry
  }
  fc.assert(
    fc.property(anyGeometry, (geometry) => {
      assert.ok(relates('equals', geometry, redraw(geometry)))
      assert.ok(relates('contains', geometry, redraw(geometry)))
    }),
    { numRuns: cases(1000) },
  )
})

const python = process.env['WAYLEAVE_TEST_PYTHON']!

test('GEOS returns the same results on thousands of random pairs', {
  skip: lacks('python'),
}, () => {
  const script = join(import.meta.dirname, 'test-data', 'relate-with-geos.py')
  const pairs = 2000
  const output = execFileSync(python, [script, '4', String(pairs)], { maxBuffer: 1 << 28, encoding: 'utf8' })
  const lines = output.trim().split('\n')
  assert.ok(lines.length > pairs * 0.98, `only ${lines.length} pairs are compared`)
  for (const text of lines) {
    const [a, b, expected] = JSON.parse(text) as [Geometry, Geometry, boolean[]]
    const answers = PREDICATES.map((predicate) => relates(predicate, a, b))
    assert.deepEqual(answers, expected, text)
  }
})

test('a relation of geometries that meet in thousands of points is refused, and equals of a copy is not', () => {
  const zigzag = (count: number, isSteep: boolean): Geometry => ({
    type: 'LineString',
    coordinates: Array.from({ length: count }, (_, i) => {
      const [along, across] = [i / count + 0.003, i % 2]
      return isSteep ? [along, across] : [across, along]
    }),
  })
  assert.equal(relates('overlaps', zigzag(20, true), zigzag(20, false)), false)
  assert.throws(() => relates('overlaps', zigzag(300, true), zigzag(300, false)), RelationCostError)
  assert.equal(relates('equals', zigzag(5000, true), zigzag(5000, true)), true)
  assert.equal(relates('intersects', zigzag(300, true), zigzag(300, false)), true)
})
