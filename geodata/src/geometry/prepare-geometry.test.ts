import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Geometry, Position } from '../feature.ts'
import { describeChanges, noChanges } from './geometry-changes.ts'
import { prepareGeometry } from './prepare-geometry.ts'

const clockwise = [
  [0, 0],
  [0, 1],
  [1, 1],
  [1, 0],
  [0, 0],
]

function problem(geometry: unknown): string {
  const prepared = prepareGeometry(structuredClone(geometry) as Geometry, null)
  assert.equal(typeof prepared, 'string')
  return prepared as string
}

test('outer rings are wound counterclockwise and holes clockwise', () => {
  const polygon: Geometry = {
    type: 'Polygon',
    coordinates: [structuredClone(clockwise), clockwise.toReversed()],
  }
  assert.deepEqual(prepareGeometry(polygon, null), {
    type: 'Polygon',
    coordinates: [clockwise.toReversed(), clockwise],
  })
})

test('broken rings and lines are problems in words', () => {
  assert.match(
    problem({ type: 'Polygon', coordinates: [clockwise.slice(0, 3)] }),
    /ring 1 has 3 positions; it needs four/,
  )
  assert.match(
    problem({ type: 'Polygon', coordinates: [clockwise, clockwise.slice(0, 4)] }),
    /ring 2 is not closed/,
  )
  assert.match(problem({ type: 'LineString', coordinates: [[0, 0]] }), /a line has one position/)
})

test('coordinates that are not numbers or lie outside the world are problems', () => {
  assert.match(problem({ type: 'Point', coordinates: [Number.NaN, 0] }), /a coordinate is NaN/)
  assert.match(problem({ type: 'Point', coordinates: ['1', 0] }), /a coordinate is not a number/)
  assert.match(problem({ type: 'Point', coordinates: [1] }), /a position needs two numbers/)
  assert.match(problem({ type: 'Point', coordinates: [181, 0] }), /longitude 181 is outside ±180$/)
  assert.match(problem({ type: 'Point', coordinates: [0, 5e6] }), /projected coordinates/)
})

test('a value that is not a geometry is a problem, not a crash', () => {
  for (const bad of [
    1,
    'x',
    [],
    {},
    { type: 'Circle' },
    { type: 'Point' },
    { type: 'Polygon', coordinates: [[1]] },
  ])
    problem(bad)
  problem({ type: 'GeometryCollection', geometries: [null] })
  problem({ type: 'MultiPolygon', coordinates: [[[null]]] })
  let deep: Geometry = { type: 'Point', coordinates: [0, 0] }
  for (let i = 0; i < 100; i++) deep = { type: 'GeometryCollection', geometries: [deep] }
  assert.match(problem(deep), /nested/)
})

test('float noise at the world’s edge is clamped', () => {
  assert.deepEqual(prepareGeometry({ type: 'Point', coordinates: [180.0000001, -90.0000001] }, null), {
    type: 'Point',
    coordinates: [180, -90],
  })
})

test('a measure is dropped, a height is kept', () => {
  assert.deepEqual(prepareGeometry({ type: 'Point', coordinates: [1, 2, 3, 4] }, null), {
    type: 'Point',
    coordinates: [1, 2, 3],
  })
})

test('a ring that a reader closed with the array that opened it is transformed once', () => {
  const open: Position[] = [
    [0, 0],
    [10, 0],
    [10, 10],
  ]
  const prepared = prepareGeometry({ type: 'Polygon', coordinates: [[...open, open[0]!]] }, ([x, y]) => [
    x! + 1,
    y! + 1,
  ])
  assert.deepEqual(prepared, {
    type: 'Polygon',
    coordinates: [
      [
        [1, 1],
        [11, 1],
        [11, 11],
        [1, 1],
      ],
    ],
  })
})

test('a position beyond a projection’s reach is a problem', () => {
  const prepared = prepareGeometry({ type: 'Point', coordinates: [1, 2] }, () => [Number.NaN, Number.NaN])
  assert.equal(prepared, 'the position 1, 2 has no place in WGS84')
})

test('coordinates up to 0.01° beyond the edge are moved to it and counted by feature', () => {
  const changes = noChanges()
  const prepare = (coordinates: Position[]) =>
    prepareGeometry({ type: 'MultiPoint', coordinates }, null, changes)
  const clamped = prepare([
    [-180.00002, 90.0001],
    [180.01, -90.01],
    [5, 6],
  ])
  assert.deepEqual((clamped as { coordinates: Position[] }).coordinates, [
    [-180, 90],
    [180, -90],
    [5, 6],
  ])
  // Floating-point noise is clamped without a word.
  prepare([[180.0000000001, 0]])
  assert.match(String(prepare([[180.011, 0]])), /longitude 180.011 is outside ±180/)
  assert.equal(changes.clamped, 1)
  assert.deepEqual(describeChanges(changes), [
    '1 feature has coordinates up to 0.01° beyond ±180° or ±90°: these were moved to the edge.',
  ])
})

test('points at 0/0 are reported, unless other points lie on the axes too', () => {
  const notesOf = (...positions: [number, number][]) => {
    const changes = noChanges()
    const halve = ([x, y]: number[]) => [x! / 2 + 1, y! / 2]
    for (const coordinates of positions)
      prepareGeometry({ type: 'Point', coordinates }, positions.length > 2 ? halve : null, changes)
    return describeChanges(changes)
  }
  assert.match(
    notesOf([0, 0], [9.1, 50.2]).join(),
    /^1 feature has the coordinates 0\/0, which usually means/,
  )
  assert.match(notesOf([0, 0], [9.1, 50.2], [0, 0]).join(), /^2 features have the coordinates 0\/0/)
  assert.deepEqual(notesOf([0, 0], [0, 1], [1, 0]), [])
  assert.deepEqual(notesOf([0, 51.47], [9, 0]), [])
})
