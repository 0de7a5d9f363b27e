import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Geometry, Position } from '../feature.ts'
import { prepareGeometry } from '../geometry/prepare-geometry.ts'

/** For property tests: geometries of all types, including empty ones, that are published without changes. */
export function validGeometryArbitrary(): fc.Arbitrary<Geometry> {
  const longitude = fc.double({ min: -180, max: 180, noNaN: true })
  const latitude = fc.double({ min: -90, max: 90, noNaN: true })
  const height = fc.double({ min: -1e4, max: 1e4, noNaN: true })
  // JSON has no negative zero.
  const position = fc
    .oneof(fc.tuple(longitude, latitude), fc.tuple(longitude, latitude, height))
    .map((numbers): Position => numbers.map((number) => (number === 0 ? 0 : number)))
  const line = fc.array(position, { minLength: 2, maxLength: 6 })
  const ring = fc
    .array(position, { minLength: 3, maxLength: 6 })
    .map((positions) => [...positions, [...positions[0]!]])
  const rings = fc.array(ring, { minLength: 1, maxLength: 3 })
  const simple: fc.Arbitrary<Geometry> = fc.oneof(
    fc
      .oneof(position, fc.constant<Position>([]))
      .map((coordinates) => ({ type: 'Point' as const, coordinates })),
    fc.array(position, { maxLength: 4 }).map((coordinates) => ({ type: 'MultiPoint' as const, coordinates })),
    fc
      .oneof(line, fc.constant<Position[]>([]))
      .map((coordinates) => ({ type: 'LineString' as const, coordinates })),
    fc
      .array(line, { maxLength: 3 })
      .map((coordinates) => ({ type: 'MultiLineString' as const, coordinates })),
    fc
      .oneof(rings, fc.constant<Position[][]>([]))
      .map((coordinates) => ({ type: 'Polygon' as const, coordinates })),
    fc.array(rings, { maxLength: 3 }).map((coordinates) => ({ type: 'MultiPolygon' as const, coordinates })),
  )
  const any = fc.oneof(
    { weight: 6, arbitrary: simple },
    {
      weight: 1,
      arbitrary: fc
        .array(simple, { maxLength: 3 })
        .map((geometries) => ({ type: 'GeometryCollection' as const, geometries })),
    },
  )
  // Preparing a geometry fixes the winding of its rings. A ring whose area vanishes in rounding has no
  // defined winding and may change again, so such geometries are filtered out.
  const prepare = (geometry: Geometry) => prepareGeometry(structuredClone(geometry), null) as Geometry
  return any.map(prepare).filter((geometry) => isDeepStrictEqual(prepare(geometry), geometry))
}
