import { type Geometry, type PreparedGeometry, prepare } from '@wayleave/geodata/geometry'

const preparedLiterals = new WeakMap<Geometry, PreparedGeometry>()

/** Prepares a geometry of a filter once, although several parts of its plan test it. */
export function prepareLiteral(geometry: Geometry): PreparedGeometry {
  let prepared = preparedLiterals.get(geometry)
  if (prepared === undefined) {
    prepared = prepare(geometry)
    preparedLiterals.set(geometry, prepared)
  }
  return prepared
}
