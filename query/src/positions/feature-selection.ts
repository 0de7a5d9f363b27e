import type { PositionBits, Snapshot } from '@wayleave/geodata/features'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { SortKey } from '../plan/sort-key.ts'

/** Which features a page selects by their values: what the tree, the interpreter and DuckDB get. */
export interface FeatureSelection {
  snapshot: Snapshot
  plan: FilterPlan | null
  box: BoxQuery | null
  /** Only features at these positions; all if it is absent or null. */
  only?: PositionBits | null
  sort: readonly SortKey[]
  /** The last position of the previous page; -1 on the first page. */
  after: number
  skip: number
  limit: number
}
