import type { Snapshot } from '@wayleave/geodata/features'
import type { FilterPlan } from '../cql2/plan-filter.ts'
import type { BoxQuery } from '../request/box-query.ts'
import type { SortKey } from '../request/sort-keys.ts'
import type { GeometryCache } from './geometry-cache.ts'
import type { PositionSet } from './position-set.ts'
import type { RowQueries } from './rows/row-queries.ts'
import type { TimedWork } from './timed-work.ts'

/** Which features a page selects by their values. */
export interface RowSelection {
  snapshot: Snapshot
  plan: FilterPlan | null
  box: BoxQuery | null
  /** Only features at these positions; all if it is absent or null. */
  only?: PositionSet | null
  sort: readonly SortKey[]
  /** The last position of the previous page; -1 on the first page. */
  after: number
  skip: number
  limit: number
}

export interface RowSelectionDeps {
  rows: RowQueries
  geometries: GeometryCache
  work: TimedWork
}
