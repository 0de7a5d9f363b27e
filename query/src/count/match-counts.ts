import { BoundedCache } from '@wayleave/geodata/base'
import { type Snapshot, timeSlices } from '@wayleave/geodata/features'
import { compiledRequest } from '../by-codes/compiled-selection.ts'
import { countAtHand, countByBox, ENDED, PAUSED } from '../by-tree/select-by-box.ts'
import type { PageSelection, SelectionParts } from '../page/page-selection.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { positionsOf } from '../positions/position-set.ts'
import type { Selected } from '../positions/selected.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { countByRows, MIN_COUNT_MS } from './count-by-rows.ts'
import { countOfLists, isCountable, MatchCount } from './match-count.ts'

/** The memory of the cached counts of one snapshot, in bytes. Their keys have the text of filters. */
const MAX_COUNT_BYTES = 4 << 20

/** A page that was found: the last position of the previous one (-1 on the first page), and its features. */
export interface FoundPage {
  after: number
  selected: Selected
}

/** A count that did not end in its first time slice, and what `advance` returned. */
interface StartedCount {
  matches: MatchCount
  state: number
}

/** Counts the features that match a query. */
export class MatchCounts {
  readonly #parts: SelectionParts
  readonly #pages: PageSelection
  readonly #counts = new WeakMap<Snapshot, BoundedCache<string, number | null>>()
  readonly #startedCounts = new WeakMap<FeatureQuery, StartedCount>()

  constructor(parts: SelectionParts, pages: PageSelection) {
    this.#parts = parts
    this.#pages = pages
  }

  /**
   * The total number of features that match the query, or null if it is not cheap to determine. `selectedMs` is
   * how long the selection took.
   */
  async count(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage,
    { selectedMs, work }: { selectedMs: number; work: TimedWork },
  ): Promise<number | null> {
    const readyCount = this.countSync(snapshot, query, plan, page)
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
    query: FeatureQuery,
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
    query: FeatureQuery,
    plan: FilterPlan,
    work: TimedWork,
  ): Promise<number | null> {
    if (query.ids) return null
    const { compiled } = this.#parts
    const request = { ...compiledRequest(snapshot, query, plan), sort: [], isWhole: true }
    const prepared = await compiled.prepare(request, work)
    if (prepared === null) return null
    const listed = countOfLists(prepared)
    if (listed !== null) return listed
    const matches = new MatchCount(prepared)
    await compiled.run(matches, snapshot, work)
    return matches.count
  }

  /** Selects everything, which counts what cannot be counted in another way; the order does not matter. */
  async #countSelected(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<number> {
    const all = { ...query, sort: [], offset: 0 }
    const reading = { after: -1, limit: snapshot.manifest.rows, work }
    return (await this.#pages.select(snapshot, all, plan, reading)).runs.count
  }

  /** `count`, synchronously; undefined if something has to be read or if it takes longer than a time slice. */
  countSync(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage,
  ): number | null | undefined {
    if (isAll(query, page)) return query.offset + page.selected.runs.count
    if (!query.box && !plan && !query.ids) return snapshot.manifest.rows
    const cachedCount = this.#counts.get(snapshot)?.get(query.selection)
    if (cachedCount !== undefined) return cachedCount
    if (query.ids) return undefined
    const count = plan
      ? this.#countMatchesSync(snapshot, query, plan)
      : countAtHand(snapshot, query.box!, this.#parts.geometries)
    return count === undefined ? undefined : this.#keepCount(snapshot, query, count)
  }

  #countMatchesSync(snapshot: Snapshot, query: FeatureQuery, plan: FilterPlan): number | null | undefined {
    const prepared = this.#parts.compiled.prepareSync({ ...compiledRequest(snapshot, query, plan), sort: [] })
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
    query: FeatureQuery,
    plan: FilterPlan | null,
    selectedMs: number,
    work: TimedWork,
  ): Promise<number | null> {
    const { compiled, rows, geometries } = this.#parts
    const request = { ...compiledRequest(snapshot, query, plan), sort: [] }
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
