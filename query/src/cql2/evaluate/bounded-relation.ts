import {
  type Geometry,
  type PreparedGeometry,
  type RelationBudget,
  RelationCostError,
  relates,
  type SpatialPredicate,
} from '@wayleave/geodata/geometry'
import { QueryError } from '../../query-error.ts'

/** Whether the relation holds. A pair of geometries that would occupy the event loop for too long is refused. */
export function boundedRelation(
  predicate: SpatialPredicate,
  a: Geometry | PreparedGeometry,
  b: Geometry | PreparedGeometry,
  budget?: RelationBudget,
): boolean {
  try {
    return relates(predicate, a, b, budget)
  } catch (error) {
    if (!(error instanceof RelationCostError)) throw error
    throw new QueryError(
      'invalid-filter',
      `A geometry of the filter and another one meet in too many points for S_${predicate.toUpperCase()}. Simplify it, or use S_INTERSECTS.`,
      { limit: 'filter-cost' },
    )
  }
}
