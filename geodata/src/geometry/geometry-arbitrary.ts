import fc from 'fast-check'
import type { Geometry, Position } from '../feature.ts'

/** For property tests: geometries of all types, also empty, with heights on all positions or on none. */
export function geometryArbitrary(): fc.Arbitrary<Geometry> {
  return fc.boolean().chain((withZ) => geometryOf(withZ, 2))
}

function geometryOf(withZ: boolean, depth: number): fc.Arbitrary<Geometry> {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const position: fc.Arbitrary<Position> = withZ ? fc.tuple(number, number, number) : fc.tuple(number, number)
  const orEmpty = fc.oneof(
    { weight: 4, arbitrary: position },
    { weight: 1, arbitrary: fc.constant<Position>([]) },
  )
  const line = fc.array(position, { maxLength: 6 })
  const lines = fc.array(line, { maxLength: 4 })
  const simple: fc.Arbitrary<Geometry>[] = [
    orEmpty.map((coordinates) => ({ type: 'Point', coordinates })),
    line.map((coordinates) => ({ type: 'LineString', coordinates })),
    lines.map((coordinates) => ({ type: 'Polygon', coordinates })),
    fc.array(orEmpty, { maxLength: 4 }).map((coordinates) => ({ type: 'MultiPoint', coordinates })),
    lines.map((coordinates) => ({ type: 'MultiLineString', coordinates })),
    fc.array(lines, { maxLength: 3 }).map((coordinates) => ({ type: 'MultiPolygon', coordinates })),
  ]
  if (depth === 0) return fc.oneof(...simple)
  const members = fc.array(geometryOf(withZ, depth - 1), { maxLength: 3 })
  return fc.oneof(
    ...simple,
    members.map((geometries): Geometry => ({ type: 'GeometryCollection', geometries })),
  )
}
