import { type PositionRuns, type Snapshot, timeSlices } from '@wayleave/geodata/features'
import { type CompiledSelection, compiledRequest } from '../by-codes/compiled-selection.ts'
import type { RowQueries } from '../by-duckdb/row-queries.ts'
import { selectByRows } from '../by-duckdb/select-by-rows.ts'
import { BoxSearch, ENDED, isDecidedByTree, PAUSED, selectInTree } from '../by-tree/select-by-box.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { PageBuilder } from '../positions/page-builder.ts'
import { positionsOf } from '../positions/position-set.ts'
import type { Selected } from '../positions/selected.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { type PageBounds, PageSearch } from './page-search.ts'

export interface Reading {
  /** The last position of the previous page; -1 on the first page. */
  after: number
  limit: number
  work: TimedWork
}

export interface SelectionParts {
  geometries: GeometryCache
  rows: RowQueries
  compiled: CompiledSelection
}

/** A search that did not end in its first time slice, and what `advance` returned. */
interface StartedSearch {
  search: PageSearch
  state: number
}

/** Finds the features of a query's page. */
export class PageSelection {
  readonly #parts: SelectionParts
  readonly #startedSearches = new WeakMap<FeatureQuery, StartedSearch>()

  constructor(parts: SelectionParts) {
    this.#parts = parts
  }

  /**
   * The page of a query, found synchronously in one time slice; its positions are put into `runs`. Null if something
   * has to be read, if it takes longer, or if the database has to decide; then `select` goes on. `plan` is made of
   * the query's conditions.
   */
  selectSync(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    { after, limit }: Omit<Reading, 'work'>,
    runs?: PositionRuns,
  ): Selected | null {
    const { box, offset: skip, sort } = query
    if (plan || sort.length > 0) return this.#searchSync(snapshot, query, plan, { after, skip, limit }, runs)
    const page = new PageBuilder(skip, limit, runs)
    if (!box) page.addRun(after + 1, snapshot.manifest.rows)
    else if (isDecidedByTree(snapshot, box)) selectInTree(snapshot, box, after, page)
    else {
      const search = new BoxSearch(snapshot, box, this.#parts.geometries, after, page)
      if (search.advance() !== ENDED) return null
    }
    return page.finish()
  }

  #searchSync(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
    runs: PositionRuns | undefined,
  ): Selected | null {
    const prepared = this.#parts.compiled.prepareSync(compiledRequest(snapshot, query, plan))
    if (!prepared) return null
    const search = new PageSearch(prepared, bounds, runs)
    const state = search.advance(timeSlices.sliceEnd())
    if (state === ENDED) return search.finish()
    search.releaseRuns()
    this.#startedSearches.set(query, { search, state })
    return null
  }

  /** The page by compiled columns; null if the database has to decide. */
  async #search(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
    work: TimedWork,
  ): Promise<Selected | null> {
    const { compiled } = this.#parts
    if (query.ids) return null
    let started = this.#startedSearches.get(query)
    if (started === undefined) {
      const prepared = await compiled.prepare(compiledRequest(snapshot, query, plan), work)
      if (prepared === null) return null
      started = { search: new PageSearch(prepared, bounds), state: PAUSED }
    }
    await compiled.run(started.search, snapshot, work, { state: started.state })
    return started.search.finish()
  }

  /** `plan` is the compiled `conditions`. */
  async select(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    { after, limit, work }: Reading,
  ): Promise<Selected> {
    const { rows, geometries } = this.#parts
    const { box, sort, offset: skip } = query
    if (plan || query.ids || sort.length > 0) {
      const page = await this.#search(snapshot, query, plan, { after, skip, limit }, work)
      if (page) return page
      const only = await positionsOf(snapshot, query.ids)
      return selectByRows({ snapshot, plan, box, only, sort, after, skip, limit }, { rows, geometries, work })
    }
    if (!box || isDecidedByTree(snapshot, box))
      return this.selectSync(snapshot, query, null, { after, limit })!
    const page = new PageBuilder(skip, limit)
    const search = new BoxSearch(snapshot, box, geometries, after, page)
    for (let needed = search.advance(); needed !== ENDED; ) {
      if (needed === PAUSED) await work.pause()
      else work.check()
      needed = search.advance(needed === PAUSED ? undefined : await geometries.read(snapshot, needed))
    }
    return page.finish()
  }
}
