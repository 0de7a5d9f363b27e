/** The face of the query engine. Everything that other packages may import is here. */

import type { SharedLoads } from '@wayleave/geodata/base'
import { ColumnCache, type PositionBits, type Snapshot } from '@wayleave/geodata/features'
import type { Bbox } from '@wayleave/geodata/geometry'
import type { AggregateQuery, AggregateResult } from './aggregate/aggregate-query.ts'
import { Aggregates } from './aggregate/aggregates.ts'
import { CompiledSelection } from './by-codes/compiled-selection.ts'
import { DuckdbQueries, type DuckdbQueriesOptions } from './by-duckdb/duckdb-queries.ts'
import { type FoundPage, MatchCounts } from './count/match-counts.ts'
import { type FacetQuery, type FacetResult, Facets } from './facets/facets.ts'
import { GeometryCache } from './features/geometry-cache.ts'
import { allPositions, positionsNear } from './page/all-positions.ts'
import { PageSelection, type Reading } from './page/page-selection.ts'
import type { FeatureQuery } from './plan/feature-query.ts'
import type { FilterPlan } from './plan/plan-filter.ts'
import type { Selected } from './positions/selected.ts'
import type { TimedWork } from './work/timed-work.ts'
import type { MaybeUnfinished } from './work/unfinished.ts'

export {
  type AggregateQuery,
  type AggregateResult,
  type Dimension,
  type GeometryForm,
  MAX_DIMENSIONS,
  MAX_MEASURES,
  type Measure,
  type Named,
  PERIODS,
  type ResultColumn,
  type ResultValue,
} from './aggregate/aggregate-query.ts'
export { DEFAULT_LIMITS, type Limits } from './cql2/ast.ts'
export type { FacetQuery, FacetResult } from './facets/facets.ts'
export { PageBytes } from './features/page-bytes.ts'
export { type ParsedFeature, parseFeature } from './features/parse-feature.ts'
export { type FeatureBlock, readBlock, readPieces } from './features/read-selected.ts'
export { shorten, shortenToBytes } from './page/shorten-page.ts'
export type { BoxQuery } from './plan/box-query.ts'
export type { Conditions } from './plan/conditions.ts'
export { readDatetime } from './plan/datetime.ts'
export type { FeatureQuery } from './plan/feature-query.ts'
export { planConditions, planInSteps } from './plan/plan-conditions.ts'
export type { FilterPlan } from './plan/plan-filter.ts'
export type { SortKey } from './plan/sort-key.ts'
export type { Selected } from './positions/selected.ts'
export { QueryError } from './query-error.ts'
export { FairQueue, type Hold } from './work/fair-queue.ts'
export { TimedWork } from './work/timed-work.ts'
export { finish, type MaybeUnfinished, Unfinished, whenFinished } from './work/unfinished.ts'
export { Workload, WRITING_FACTOR } from './work/workload.ts'

export interface EngineOptions extends DuckdbQueriesOptions {
  /** The memory of the cached geometries, in bytes of GeoJSON text; parsed, they take about five times as much. */
  geometryBytes: number
  /** The memory of the cached columns, in bytes. A column takes 5 to 36 bytes per feature. */
  columnBytes: number
  /** Columns of more rows are loaded without their sorted order; tests pass a smaller number. */
  maxListedRows?: number
  /** Columns that other threads have loaded; null if this thread serves alone. */
  sharedLoads?: SharedLoads | null
}

/**
 * Answers questions about the features of snapshots: the page of a query, the number of its matches, their facets,
 * their groups and their positions. `plan` is always made by `planConditions` of the same query's conditions; null if it has none.
 * Refuses a query by a `QueryError`.
 */
export class QueryEngine {
  readonly duckdb: DuckdbQueries
  readonly columns: ColumnCache
  readonly #compiled: CompiledSelection
  readonly #pages: PageSelection
  readonly #counts: MatchCounts
  readonly #facets: Facets
  readonly #aggregates: Aggregates

  /** `folder` is the snapshots folder. */
  constructor(folder: string, options: EngineOptions) {
    const { geometryBytes, columnBytes, maxListedRows, sharedLoads = null, ...others } = options
    const duckdb = new DuckdbQueries(folder, others)
    const geometries = new GeometryCache(geometryBytes)
    const columns = new ColumnCache(columnBytes, { maxListedRows, shared: sharedLoads })
    const compiled = new CompiledSelection(columns, geometries)
    this.duckdb = duckdb
    this.columns = columns
    this.#compiled = compiled
    this.#pages = new PageSelection({ duckdb, geometries, compiled })
    this.#counts = new MatchCounts({ duckdb, geometries, compiled }, this.#pages)
    this.#facets = new Facets({ columns, compiled, geometries, duckdb })
    this.#aggregates = new Aggregates({ columns, compiled, geometries, duckdb })
  }

  /** The page of a query. Unfinished if something has to be read, if it takes longer, or if the database decides. */
  page(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    reading: Reading,
  ): MaybeUnfinished<Selected> {
    return this.#pages.select(snapshot, query, plan, reading)
  }

  /**
   * The total number of features that match the query, as long as counting takes less than a query may. `page` is the
   * page that was found, null if none was asked for.
   */
  count(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage | null,
  ): MaybeUnfinished<number> {
    return this.#counts.count(snapshot, query, plan, page)
  }

  /** The same beside a page, only if it is cached or takes less than a millisecond; otherwise null. */
  countCheaply(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage,
  ): MaybeUnfinished<number | null> {
    return this.#counts.countCheaply(snapshot, query, plan, page)
  }

  /** The total number of features that match the query, if it was counted before. */
  rememberedCount(snapshot: Snapshot, query: FeatureQuery): number | null {
    return this.#counts.remembered(snapshot, query)
  }

  /** The values of columns, counted among the features that match, and the extent of these features. */
  facets(
    snapshot: Snapshot,
    query: FacetQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<FacetResult> {
    return this.#facets.count(snapshot, query, plan, work)
  }

  /** The groups of the features that match, with measures of each group. */
  aggregate(
    snapshot: Snapshot,
    query: AggregateQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<AggregateResult> {
    return this.#aggregates.compute(snapshot, query, plan, work)
  }

  /** The positions of all features that match. */
  positions(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<PositionBits> {
    return allPositions(snapshot, query, plan, work, { compiled: this.#compiled, pages: this.#pages })
  }

  /**
   * The positions of the matches whose boxes meet a box, and perhaps of others. Null if finding all matches takes
   * about as long.
   */
  positionsNear(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    box: Bbox,
    work: TimedWork,
  ): Promise<PositionBits | null> {
    return positionsNear(snapshot, query, plan, box, work, this.#compiled)
  }

  /** Ends the processes of the database. */
  close(): Promise<void> {
    return this.duckdb.close()
  }
}
