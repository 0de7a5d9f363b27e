import { type PositionRuns, type Snapshot, timeSlices } from '@wayleave/geodata/features'
import { PositionBits } from '@wayleave/geodata/tiles'
import { BoundedCache } from '../../base/caching/bounded-cache.ts'
import { type Clock, HOUR } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { Problem } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../data/catalog/open-snapshots.ts'
import type { FilterPlan } from '../cql2/plan-filter.ts'
import type { Cursor, Cursors } from '../request/cursor.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { CompiledRequest, CompiledSelection } from './compiled/compiled-selection.ts'
import { countOfLists, isCountable, MatchCount } from './compiled/match-count.ts'
import { type PageBounds, PageSearch } from './compiled/page-search.ts'
import { RowScan } from './compiled/row-scan.ts'
import { countByRows, MIN_COUNT_MS } from './count-by-rows.ts'
import type { GeometryCache } from './geometry-cache.ts'
import { PageBuilder } from './page-builder.ts'
import { PositionSet } from './position-set.ts'
import type { RowTaker } from './row-taker.ts'
import type { RowQueries } from './rows/row-queries.ts'
import {
  BoxSearch,
  countAtHand,
  countByBox,
  ENDED,
  isDecidedByTree,
  PAUSED,
  selectInTree,
} from './select-by-box.ts'
import { selectByRows } from './select-by-rows.ts'
import type { Selected } from './selected.ts'
import type { TimedWork } from './timed-work.ts'

/** How long a client may continue paging through a version after it was replaced. */
const GRACE = HOUR
/** The memory of the cached counts of one snapshot, in bytes. Their keys have the text of filters. */
const MAX_COUNT_BYTES = 4 << 20

export interface Start {
  version: Version
  /** The last position of the previous page; -1 on the first page. */
  after: number
}

export interface Reading {
  after: number
  limit: number
  work: TimedWork
}

export interface FeatureSelectionDeps {
  catalog: Catalog
  snapshots: OpenSnapshots
  geometries: GeometryCache
  rows: RowQueries
  compiled: CompiledSelection
  clock: Clock
  cursors: Cursors
}

/** A search that did not end in its first time slice, and what `advance` returned. */
interface StartedSearch {
  search: PageSearch
  state: number
}

/** The same for a count. */
interface StartedCount {
  matches: MatchCount
  state: number
}

/** Finds the features of a query's page. */
export class FeatureSelection {
  readonly #parts: FeatureSelectionDeps
  readonly #counts = new WeakMap<Snapshot, BoundedCache<string, number | null>>()
  readonly #startedSearches = new WeakMap<ItemsQuery, StartedSearch>()
  readonly #startedCounts = new WeakMap<ItemsQuery, StartedCount>()

  constructor(parts: FeatureSelectionDeps) {
    this.#parts = parts
  }

  /**
   * The version and position where a page begins. All pages of one paging sequence read the version of the
   * first page, so that they are consistent. An hour after that version was replaced, the client has to start
   * over.
   */
  start(dataset: Dataset, query: ItemsQuery): MaybePromise<Start> {
    const cursor = cursorOf(dataset, query, this.#parts.cursors)
    if (cursor === null) return { version: dataset, after: -1 }
    if (cursor.version === dataset.version) return { version: dataset, after: cursor.position }
    return this.#older(dataset, cursor)
  }

  async #older(dataset: Dataset, { version: number, position }: Cursor): Promise<Start> {
    const { catalog, clock } = this.#parts
    const versions = await catalog.versions(dataset.table)
    const at = versions.findIndex(({ version }) => version === number)
    const successor = versions[at - 1]
    const olderVersion = versions[at]
    if (!olderVersion || !successor || clock().getTime() - Date.parse(successor.createdAt) > GRACE) {
      throw new Problem(
        'invalid-cursor',
        'The dataset was replaced meanwhile. Begin again at the first page.',
      )
    }
    return { version: olderVersion, after: position }
  }

  /**
   * The page of a query, found synchronously in one time slice; its positions are put into `runs`. Null if something
   * has to be read, if it takes longer, or if the database has to decide; then `select` goes on. `plan` is made of
   * the query's conditions.
   */
  selectSync(
    snapshot: Snapshot,
    query: ItemsQuery,
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
    query: ItemsQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
    runs: PositionRuns | undefined,
  ): Selected | null {
    const prepared = this.#parts.compiled.prepareSync(requestOf(snapshot, query, plan))
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
    query: ItemsQuery,
    plan: FilterPlan | null,
    bounds: PageBounds,
    work: TimedWork,
  ): Promise<Selected | null> {
    const { compiled } = this.#parts
    if (query.ids) return null
    let started = this.#startedSearches.get(query)
    if (started === undefined) {
      const prepared = await compiled.prepare(requestOf(snapshot, query, plan), work)
      if (prepared === null) return null
      started = { search: new PageSearch(prepared, bounds), state: PAUSED }
    }
    await compiled.run(started.search, snapshot, work, { state: started.state })
    return started.search.finish()
  }

  /** `plan` is the compiled `conditions`. */
  async select(
    snapshot: Snapshot,
    query: ItemsQuery,
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

  /**
   * The total number of features that match the query, or null if it is not cheap to determine. `selectedMs` is
   * how long the selection took.
   */
  async count(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    selected: Selected,
    { selectedMs, work }: { selectedMs: number; work: TimedWork },
  ): Promise<number | null> {
    const readyCount = this.countSync(snapshot, query, plan, selected)
    if (readyCount !== undefined) return readyCount
    const count =
      plan || query.ids
        ? await this.#countMatches(snapshot, query, plan, selectedMs, work)
        : await countByBox(snapshot, query.box!, this.#parts.geometries, work)
    return this.#keepCount(snapshot, query, count)
  }

  /** The total number of features that match the query, as long as counting takes less than a query may. */
  async countExactly(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<number> {
    const { rows } = snapshot.manifest
    if (!plan && !query.ids && !query.box) return rows
    const cached = this.#counts.get(snapshot)?.get(query.selection)
    if (cached != null) return cached
    const count =
      (plan && (await this.#countCompiled(snapshot, query, plan, work))) ??
      (await this.#countSelected(snapshot, query, plan, work))
    this.#keepCount(snapshot, query, count)
    return count
  }

  /** The number of matches by compiled columns; null if the database has to decide. */
  async #countCompiled(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan,
    work: TimedWork,
  ): Promise<number | null> {
    if (query.ids) return null
    const { compiled } = this.#parts
    const request = { ...requestOf(snapshot, query, plan), sort: [], isWhole: true }
    const prepared = await compiled.prepare(request, work)
    if (prepared === null) return null
    const listed = countOfLists(prepared)
    if (listed !== null) return listed
    const matches = new MatchCount(prepared)
    await compiled.run(matches, snapshot, work)
    return matches.count
  }

  /** The positions of all features that match. */
  async positions(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<PositionBits> {
    const { compiled } = this.#parts
    const { rows } = snapshot.manifest
    const positions = PositionBits.empty(rows)
    const request = { ...requestOf(snapshot, query, plan), sort: [], isWhole: true }
    const prepared = query.ids ? null : await compiled.prepare(request, work)
    if (prepared) {
      await compiled.run(new RowScan(prepared, 0, Infinity, takerOf(positions)), snapshot, work)
      return positions
    }
    const reading = { after: -1, limit: rows, work }
    const { runs } = await this.select(snapshot, { ...query, sort: [], offset: 0 }, plan, reading)
    for (let run = 0; run < runs.length; run++) {
      positions.addRun(runs.bounds[run * 2]!, runs.bounds[run * 2 + 1]!)
    }
    return positions
  }

  /** Selects everything, which counts what cannot be counted in another way; the order does not matter. */
  async #countSelected(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<number> {
    const all = { ...query, sort: [], offset: 0 }
    const reading = { after: -1, limit: snapshot.manifest.rows, work }
    return (await this.select(snapshot, all, plan, reading)).runs.count
  }

  /** `count`, synchronously; undefined if something has to be read or if it takes longer than a time slice. */
  countSync(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    selected: Selected,
  ): number | null | undefined {
    if (isAll(query, selected)) return query.offset + selected.runs.count
    if (!query.box && !plan && !query.ids) return snapshot.manifest.rows
    const cachedCount = this.#counts.get(snapshot)?.get(query.selection)
    if (cachedCount !== undefined) return cachedCount
    if (query.ids) return undefined
    const count = plan
      ? this.#countMatchesSync(snapshot, query, plan)
      : countAtHand(snapshot, query.box!, this.#parts.geometries)
    return count === undefined ? undefined : this.#keepCount(snapshot, query, count)
  }

  #countMatchesSync(snapshot: Snapshot, query: ItemsQuery, plan: FilterPlan): number | null | undefined {
    const prepared = this.#parts.compiled.prepareSync({ ...requestOf(snapshot, query, plan), sort: [] })
    if (!prepared) return undefined
    const listed = countOfLists(prepared)
    if (listed !== null || !isCountable(prepared)) return listed
    const matches = new MatchCount(prepared)
    const state = matches.advance(timeSlices.sliceEnd())
    if (state === ENDED) return matches.count
    this.#startedCounts.set(query, { matches, state })
    return undefined
  }

  async #countMatches(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    selectedMs: number,
    work: TimedWork,
  ): Promise<number | null> {
    const { compiled, rows, geometries } = this.#parts
    const request = { ...requestOf(snapshot, query, plan), sort: [] }
    const prepared = query.ids ? null : await compiled.prepare(request, work)
    if (!prepared) {
      const only = await positionsOf(snapshot, query.ids)
      const parts = { rows, geometries, work }
      return countByRows({ snapshot, plan, box: query.box, only }, parts, selectedMs)
    }
    const listed = countOfLists(prepared)
    if (listed !== null || !isCountable(prepared)) return listed
    const { matches, state } = this.#startedCounts.get(query) ?? {
      matches: new MatchCount(prepared),
      state: PAUSED,
    }
    const deadline = performance.now() + Math.max(MIN_COUNT_MS, selectedMs)
    const mayRead = () => performance.now() < deadline
    return (await compiled.run(matches, snapshot, work, { state, mayRead })) ? matches.count : null
  }

  /** Cached, because all pages of one paging sequence need it. */
  #keepCount(snapshot: Snapshot, { selection }: ItemsQuery, count: number | null): number | null {
    let counts = this.#counts.get(snapshot)
    if (!counts) {
      counts = new BoundedCache(MAX_COUNT_BYTES, (_count, selection) => selection.length + 100)
      this.#counts.set(snapshot, counts)
    }
    counts.set(selection, count)
    return count
  }
}

function requestOf(snapshot: Snapshot, { box, sort }: ItemsQuery, plan: FilterPlan | null): CompiledRequest {
  return { snapshot, condition: plan?.condition ?? null, sort, box }
}

/** Puts all rows of a scan into a set. */
function takerOf(positions: PositionBits): RowTaker {
  return {
    takeRow(row) {
      positions.add(row)
      return false
    },
    takeRun(begin, end) {
      positions.addRun(begin, end)
      return false
    },
    takeRows(rows, count) {
      positions.addFirst(count, rows)
      return false
    },
  }
}

/** The positions of the features with these ids; ids that no feature has are ignored. */
async function positionsOf(snapshot: Snapshot, ids: readonly string[] | null): Promise<PositionSet | null> {
  if (ids === null) return null
  const idPositions = await Promise.all(ids.map((id) => snapshot.findById(id)))
  const positions = idPositions.filter((position) => position !== -1).sort((a, b) => a - b)
  return PositionSet.of(snapshot.manifest.rows, positions)
}

/** Whether the page has all matches: it is a first page that is not full. */
function isAll({ cursor, offset }: ItemsQuery, { runs, more }: Selected): boolean {
  return !more && cursor === null && (runs.count > 0 || offset === 0)
}

function cursorOf({ table }: Dataset, { cursor, selection }: ItemsQuery, cursors: Cursors): Cursor | null {
  return cursor === null ? null : cursors.read(cursor, table, selection)
}
