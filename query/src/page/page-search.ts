import type { PositionRuns } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import type { PreparedRequest } from '../by-codes/compiled-selection.ts'
import { OrderWalk, sortedPositionsAfter } from '../by-codes/order-walk.ts'
import { oneByOne, PositionScan } from '../by-codes/position-scan.ts'
import { ENDED, type SlicedWork } from '../features/sliced-work.ts'
import { PageBuilder } from '../positions/page-builder.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
import type { Selected } from '../positions/selected.ts'

export interface PageBounds {
  /** The last position of the previous page; -1 on the first page. */
  after: number
  skip: number
  limit: number
}

/** Up to this many candidates, sorting the matches is faster than walking the order until the page is full. */
const FEW_CANDIDATES = 20_000

/** Searches a page of features. It ends as soon as the page is full. */
export class PageSearch implements SlicedWork {
  readonly #page: PageBuilder
  readonly #work: SlicedWork

  /** `runs` is as for a PageBuilder. */
  constructor(request: PreparedRequest, { after, skip, limit }: PageBounds, runs?: PositionRuns) {
    const page = new PageBuilder(skip, limit, runs)
    this.#page = page
    const { order, filter, box, snapshot } = request
    // A forged cursor may contain any position.
    if (after >= snapshot.manifest.rows) this.#work = { advance: () => ENDED }
    else if (order === null) this.#work = new PositionScan(request, after + 1, page.wanted, page)
    else if (filter && filter.candidateCount <= FEW_CANDIDATES) {
      this.#work = new SortedMatches(request, order, after, page)
    } else {
      const walk = new OrderWalk(order.column, order.isDescending, after)
      this.#work = oneByOne(walk, filter?.matches ?? null, box, page)
    }
  }

  advance(until: number, geometry?: Geometry | null): number {
    return this.#work.advance(until, geometry)
  }

  loadMissing(): Promise<unknown> | null {
    return this.#work.loadMissing?.() ?? null
  }

  finish(): Selected {
    return this.#page.finish()
  }
}

/** Finds all matches and sorts them. */
class SortedMatches implements SlicedWork, PositionTaker {
  readonly #order: NonNullable<PreparedRequest['order']>
  readonly #after: number
  readonly #page: PageBuilder
  readonly #positions: number[] = []
  readonly #scan: PositionScan

  constructor(
    request: PreparedRequest,
    order: NonNullable<PreparedRequest['order']>,
    after: number,
    page: PageBuilder,
  ) {
    this.#order = order
    this.#after = after
    this.#page = page
    this.#scan = new PositionScan(request, 0, Infinity, this)
  }

  take(position: number): boolean {
    this.#positions.push(position)
    return false
  }

  takeRun(begin: number, end: number): boolean {
    for (let position = begin; position < end; position++) this.#positions.push(position)
    return false
  }

  takeList(positions: Uint32Array, count: number): boolean {
    for (let i = 0; i < count; i++) this.#positions.push(positions[i]!)
    return false
  }

  advance(until: number, geometry?: Geometry | null): number {
    const state = this.#scan.advance(until, geometry)
    if (state !== ENDED) return state
    const { column, isDescending } = this.#order
    for (const position of sortedPositionsAfter(this.#positions, column, isDescending, this.#after)) {
      if (this.#page.take(position)) break
    }
    return ENDED
  }

  loadMissing(): Promise<unknown> | null {
    return this.#scan.loadMissing()
  }
}
