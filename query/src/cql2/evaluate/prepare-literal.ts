import { type Geometry, type PreparedGeometry, prepare } from '@wayleave/geodata/geometry'

/**
 * Kept in the literal itself. A prepared geometry refers to its geometry, and as the value of a WeakMap it would survive
 * until all of memory is collected, with every filter that is sent once.
 */
const PREPARED = Symbol('prepared')

type Literal = Geometry & { [PREPARED]?: PreparedGeometry }

/** Prepares a geometry of a filter once, although several parts of its plan test it. */
export function prepareLiteral(geometry: Literal): PreparedGeometry {
  geometry[PREPARED] ??= prepare(geometry)
  return geometry[PREPARED]
}
