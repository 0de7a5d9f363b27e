import type { PositionRuns, Snapshot } from '@wayleave/geodata/features'
import { type CompiledSelection, compiledRequest } from '../by-codes/compiled-selection.ts'
import type { DuckdbQueries } from '../by-duckdb/duckdb-queries.ts'
import { selectByDuckdb } from '../by-duckdb/select-by-duckdb.ts'
import { BoxSearch, isDecidedByTree, selectInTree } from '../by-tree/select-by-box.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { runSliced } from '../features/sliced-work.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { PageBuilder } from '../positions/page-builder.ts'
import { positionsOf } from '../positions/positions-in-box.ts'
import type { Selected } from '../positions/selected.ts'
import { type MaybeUnfinished, Unfinished, whenFinished } from '../work/unfinished.ts'
import { type PageBounds, PageSearch } from './page-search.ts'

export interface Reading {
  /** The last position of the previous page; -1 on the first page. */
  after: number
  limit: number
  /** Gets the positions of the page; it may be an existing object that is no longer in use. */
  runs?: PositionRuns
}

export interface SelectionParts {
  geometries: GeometryCache
  duckdb: DuckdbQueries
  compiled: CompiledSelection
}

/** Finds the features of a query's page. */
export class PageSelection {
  readonly #parts: SelectionParts

  constructor(parts: SelectionParts) {
    this.#parts = parts
  }

  /** `plan` is made of the query's conditions. */
  select(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    { after, limit, runs }: Reading,
  ): MaybeUnfinished<Selected> {
    const { box, offset: skip, sort, ids } = query
    if (plan || ids || sort.length > 0)
      return this.#search(snapshot, query, plan, { after, skip, limit }, runs)
    const page = new PageBuilder(skip, limit, runs)
    if (!box) page.addRun(after + 1, snapshot.manifest.rows)
    else if (!isDecidedByTree(snapshot, box) || !selectInTree(snapshot, box, after, page))
      return this.#searchBox(snapshot, box, { after, skip, limit }, runs)
    return page.finish()
  }

  #searchBox(
    snapshot: Snapshot,
    box: BoxQuery,
    { after, skip, limit }: PageBounds,
    runs: PositionRuns | undefined,
  ): MaybeUnfinished<Selected> {
    const { geometries } = this.#parts
    const page = new PageBuilder(skip, limit, runs)
    const search = new BoxSearch(snapshot, box, geometries, after, page)
    return whenFinished(runSliced(search, snapshot, geometries), () => page.finish())
  }

  #search(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
    runs: PositionRuns | undefined,
  ): MaybeUnfinished<Selected> {
    if (query.ids) return this.#askDatabase(snapshot, query, plan, bounds)
    const { compiled } = this.#parts
    const request = compiledRequest(snapshot, query, plan, bounds.skip + bounds.limit)
    return whenFinished(compiled.prepare(request), (prepared) => {
      if (prepared === null) return this.#askDatabase(snapshot, query, plan, bounds)
      const search = new PageSearch(prepared, bounds, runs)
      return whenFinished(compiled.run(search, snapshot), () => search.finish())
    })
  }

  #askDatabase(
    snapshot: Snapshot,
    { box, sort, ids }: FeatureQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
  ): Unfinished<Selected> {
    const { duckdb, geometries } = this.#parts
    return new Unfinished(async (work) => {
      const only = await positionsOf(snapshot, ids, work)
      return selectByDuckdb({ snapshot, plan, box, only, sort, ...bounds }, { duckdb, geometries, work })
    })
  }
}
