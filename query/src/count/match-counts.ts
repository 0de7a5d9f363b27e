import { BoundedCache } from '@wayleave/geodata/base'
import type { Snapshot } from '@wayleave/geodata/features'
import { compiledRequest, type PreparedRequest } from '../by-codes/compiled-selection.ts'
import { countByBox, isCheapInBox } from '../by-tree/select-by-box.ts'
import { BLOCKED, ENDED } from '../features/sliced-work.ts'
import type { PageSelection, SelectionParts } from '../page/page-selection.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { positionsOf } from '../positions/positions-in-box.ts'
import type { Selected } from '../positions/selected.ts'
import { finish, type MaybeUnfinished, Unfinished, whenFinished } from '../work/unfinished.ts'
import { countOfLists, type MatchCount, planCount } from './match-count.ts'

/** The memory of the cached counts of one snapshot, in bytes. Their keys have the text of filters. */
const MAX_COUNT_BYTES = 4 << 20
/**
 * What counting beside a page may cost by `planCount`: words and positions that are looked at, weighted by how long each
 * took on the machine that was measured. No clock is read, so a slow or busy server sends the same responses as a fast
 * one. 400,000 is less than a millisecond also on a machine that is half as fast; the page takes a tenth of that.
 */
const MAX_CHEAP_COST = 400_000
/** How often a scan whose cost is only an estimate is continued. Each time it looks at 512 positions or a block of them. */
const MAX_CHEAP_STEPS = 64

/** A page that was found. */
export interface FoundPage {
  /** The last position of the previous page; -1 on the first page. */
  after: number
  selected: Selected
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

  /** Always counted; it takes as long as a query may. `page` is the page that was found, if one was asked for. */
  count(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage | null,
  ): MaybeUnfinished<number> {
    const knownCount = this.#knownCount(snapshot, query, plan, page)
    if (knownCount !== null) return knownCount
    const prepared = plan && this.#prepare(snapshot, query, plan)
    const count = whenFinished(prepared, (request) =>
      request === null ? this.#countSelected(snapshot, query, plan) : this.#countPrepared(request),
    )
    return whenFinished(count, (counted) => this.#keepCount(snapshot, query, counted))
  }

  /** The count if it is cached or cheap to determine, otherwise null. The database is never asked. */
  countCheaply(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage,
  ): MaybeUnfinished<number | null> {
    const knownCount = this.#knownCount(snapshot, query, plan, page)
    // That a query is not cheap to count is cached too: finding out takes as long as finding a page of ten features.
    if (knownCount !== null || this.#counts.get(snapshot)?.get(query.selection) === null) return knownCount
    if (query.ids) return plan || query.box ? null : this.#countIds(snapshot, query.ids)
    if (!plan) return this.#countByBox(snapshot, query)
    const prepared = this.#prepare(snapshot, query, plan)
    // Finding the page has loaded and evaluated what it needs; anything else takes longer than a count may.
    if (prepared === null || prepared instanceof Unfinished) return null
    return whenFinished(this.#countPreparedCheaply(prepared), (counted) =>
      this.#keepCount(snapshot, query, counted),
    )
  }

  #knownCount(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan | null,
    page: FoundPage | null,
  ): number | null {
    if (page && isAll(query, page)) return query.offset + page.selected.runs.count
    if (!query.box && !plan && !query.ids) return snapshot.manifest.rows
    return this.remembered(snapshot, query)
  }

  /** The count of a query that was counted before. */
  remembered(snapshot: Snapshot, { selection }: FeatureQuery): number | null {
    return this.#counts.get(snapshot)?.get(selection) ?? null
  }

  /** Null if compiled columns cannot decide. */
  #prepare(
    snapshot: Snapshot,
    query: FeatureQuery,
    plan: FilterPlan,
  ): MaybeUnfinished<PreparedRequest | null> {
    if (query.ids) return null
    const request = { ...compiledRequest(snapshot, query, plan, Infinity), sort: [], isCount: true }
    return this.#parts.compiled.prepare(request)
  }

  #countPrepared(prepared: PreparedRequest): MaybeUnfinished<number> {
    const listed = countOfLists(prepared)
    if (listed !== null) return listed
    const counting = planCount(prepared).begin()
    return whenFinished(this.#parts.compiled.run(counting, prepared.snapshot), () => counting.count)
  }

  #countPreparedCheaply(prepared: PreparedRequest): MaybeUnfinished<number | null> {
    const listed = countOfLists(prepared)
    if (listed !== null) return listed
    const { snapshot, box } = prepared
    if (!box) return this.#countPlanned(prepared)
    // Geometries decide about the features on the border of the box, and reading many of them is expensive.
    return whenFinished(isCheapInBox(snapshot, box.query), (isCheap) =>
      isCheap ? this.#countPlanned(prepared) : null,
    )
  }

  #countPlanned(prepared: PreparedRequest): MaybeUnfinished<number | null> {
    const { snapshot } = prepared
    const plan = planCount(prepared)
    if (plan.cost > MAX_CHEAP_COST) return null
    const counting = plan.begin()
    if (plan.isEstimate && snapshot.tree.isPoints) return countInSteps(counting, snapshot, MAX_CHEAP_STEPS)
    return whenFinished(this.#parts.compiled.run(counting, snapshot), () => counting.count)
  }

  #countByBox(snapshot: Snapshot, query: FeatureQuery): MaybeUnfinished<number | null> {
    return whenFinished(countByBox(snapshot, query.box!, this.#parts.geometries), (counted) =>
      this.#keepCount(snapshot, query, counted),
    )
  }

  #countIds(snapshot: Snapshot, ids: readonly string[]): Unfinished<number> {
    return new Unfinished(async (work) => (await positionsOf(snapshot, ids, work))!.count())
  }

  /** Selects everything, which counts what cannot be counted in another way; the order does not matter. */
  #countSelected(snapshot: Snapshot, query: FeatureQuery, plan: FilterPlan | null): MaybeUnfinished<number> {
    const all = { ...query, sort: [], offset: 0 }
    const reading = { after: -1, limit: snapshot.manifest.rows }
    return whenFinished(this.#pages.select(snapshot, all, plan, reading), ({ runs }) => runs.count)
  }

  /** Cached, because all pages of one paging sequence need it. */
  #keepCount<T extends number | null>(snapshot: Snapshot, { selection }: FeatureQuery, count: T): T {
    let counts = this.#counts.get(snapshot)
    if (!counts) {
      counts = new BoundedCache(MAX_COUNT_BYTES, (_count, selection) => selection.length + 100)
      this.#counts.set(snapshot, counts)
    }
    counts.set(selection, count)
    return count
  }
}

/** The count if it takes at most so many steps of a scan, otherwise null. Reading the index is not a step. */
function countInSteps(
  counting: MatchCount,
  snapshot: Snapshot,
  steps: number,
): MaybeUnfinished<number | null> {
  for (let step = 0; step < steps; step++) {
    // With 0 as the end of the time slice, the scan pauses after each of its steps.
    const state = counting.advance(0)
    if (state === ENDED) return counting.count
    if (state === BLOCKED)
      return new Unfinished(async (work) => {
        await (counting.loadMissing?.() ?? snapshot.tree.loadMissing())
        return finish(countInSteps(counting, snapshot, steps - step), work)
      })
  }
  return null
}

/** Whether the page has all matches: it is a first page that is not full. */
function isAll({ offset }: FeatureQuery, { after, selected: { runs, more } }: FoundPage): boolean {
  return !more && after === -1 && (runs.count > 0 || offset === 0)
}
