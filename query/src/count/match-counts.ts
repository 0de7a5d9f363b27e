import { BoundedCache } from '@wayleave/geodata/base'
import type { Snapshot } from '@wayleave/geodata/features'
import { compiledRequest, type PreparedRequest } from '../by-codes/compiled-selection.ts'
import { countByBox } from '../by-tree/select-by-box.ts'
import type { PageSelection, SelectionParts } from '../page/page-selection.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { positionsOf } from '../positions/positions-in-box.ts'
import type { Selected } from '../positions/selected.ts'
import { type MaybeUnfinished, Unfinished, whenFinished } from '../work/unfinished.ts'
import { countByDuckdb, MIN_COUNT_MS } from './count-by-duckdb.ts'
import { countOfLists, isCountable, MatchCount } from './match-count.ts'

/** The memory of the cached counts of one snapshot, in bytes. Their keys have the text of filters. */
const MAX_COUNT_BYTES = 4 << 20

/** A page that was found. */
export interface FoundPage {
  /** The last position of the previous page; -1 on the first page. */
  after: number
  selected: Selected
  /** How long finding it took, in ms. */
  selectedMs: number
}

/** Counts the features that match a query. */
export class MatchCounts {
  readonly #parts: SelectionParts
  readonly #pages: PageSelection
  readonly #counts = new WeakMap<Snapshot, BoundedCache<string, number | null>>()

  constructor(parts: SelectionParts, pages: PageSelection) {
    this.#parts = parts
    this.#pages = pages
  }

  /**
   * The total number of features that match the query. Beside a page it is null if it is not cheap to determine;
   * without one (`page` is null) the count is what was asked for, and takes as long as a query may.
   */
  count(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage | null,
  ): MaybeUnfinished<number | null> {
    if (page && isAll(query, page)) return query.offset + page.selected.runs.count
    if (!query.box && !plan && !query.ids) return snapshot.manifest.rows
    const cachedCount = this.#counts.get(snapshot)?.get(query.selection)
    if (cachedCount != null || (cachedCount === null && page)) return cachedCount
    const count = page
      ? this.#countCheaply(snapshot, query, plan, page.selectedMs)
      : this.#countExactly(snapshot, query, plan)
    return whenFinished(count, (finished) => this.#keepCount(snapshot, query, finished))
  }

  /** Reading geometries, and asking the database, may take as long as the page did. */
  #countCheaply(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    selectedMs: number,
  ): MaybeUnfinished<number | null> {
    if (!plan && !query.ids) return countByBox(snapshot, query.box!, this.#parts.geometries)
    return whenFinished(this.#prepare(snapshot, query, plan, false), (prepared) => {
      if (prepared === null) return this.#askDatabase(snapshot, query, plan, selectedMs)
      if (!isCountable(prepared)) return countOfLists(prepared)
      let deadline = 0
      const mayRead = () => {
        deadline ||= performance.now() + Math.max(MIN_COUNT_MS, selectedMs)
        return performance.now() < deadline
      }
      return this.#countPrepared(prepared, mayRead)
    })
  }

  #countExactly(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
  ): MaybeUnfinished<number | null> {
    const prepared = plan && this.#prepare(snapshot, query, plan, true)
    return whenFinished(prepared, (found) =>
      found === null ? this.#countSelected(snapshot, query, plan) : this.#countPrepared(found),
    )
  }

  /** Null if compiled columns cannot decide. */
  #prepare(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    isWhole: boolean,
  ): MaybeUnfinished<PreparedRequest | null> {
    if (query.ids) return null
    return this.#parts.compiled.prepare({ ...compiledRequest(snapshot, query, plan), sort: [], isWhole })
  }

  /** Null if `mayRead` has aborted it. */
  #countPrepared(prepared: PreparedRequest, mayRead?: () => boolean): MaybeUnfinished<number | null> {
    const listed = countOfLists(prepared)
    if (listed !== null) return listed
    const matches = new MatchCount(prepared)
    const run = this.#parts.compiled.run(matches, prepared.snapshot, mayRead)
    return whenFinished(run, (hasEnded) => (hasEnded ? matches.count : null))
  }

  #askDatabase(
    snapshot: Snapshot,
    { ids, box }: FeatureQuery,
    plan: FilterPlan | null,
    selectedMs: number,
  ): Unfinished<number | null> {
    const { duckdb, geometries } = this.#parts
    return new Unfinished(async (work) => {
      const only = await positionsOf(snapshot, ids)
      return countByDuckdb({ snapshot, plan, box, only }, { duckdb, geometries, work }, selectedMs)
    })
  }

  /** Selects everything, which counts what cannot be counted in another way; the order does not matter. */
  #countSelected(snapshot: Snapshot, query: FeatureQuery, plan: FilterPlan | null): MaybeUnfinished<number> {
    const all = { ...query, sort: [], offset: 0 }
    const reading = { after: -1, limit: snapshot.manifest.rows }
    return whenFinished(this.#pages.select(snapshot, all, plan, reading), ({ runs }) => runs.count)
  }

  /** Cached, because all pages of one paging sequence need it. */
  #keepCount(snapshot: Snapshot, { selection }: FeatureQuery, count: number | null): number | null {
    let counts = this.#counts.get(snapshot)
    if (!counts) {
      counts = new BoundedCache(MAX_COUNT_BYTES, (_count, selection) => selection.length + 100)
      this.#counts.set(snapshot, counts)
    }
    counts.set(selection, count)
    return count
  }
}

/** Whether the page has all matches: it is a first page that is not full. */
function isAll({ offset }: FeatureQuery, { after, selected: { runs, more } }: FoundPage): boolean {
  return !more && after === -1 && (runs.count > 0 || offset === 0)
}
