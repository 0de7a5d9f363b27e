import { BLOCK_ROWS, BLOCK_SHIFT, type Snapshot, type TreeWalk } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import { BLOCKED, ENDED, PAUSED, type SlicedWork } from '../features/sliced-work.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
import type { BoxTest } from './box-test.ts'
import { ListWalk } from './list-walk.ts'
import type { PositionFilter } from './position-filter.ts'
import { ALL_POSITIONS, NO_POSITIONS } from './position-mask.ts'

/** What limits the positions of a scan. See docs/decisions/compiled-columns.md. */
export interface ScanSource {
  snapshot: Snapshot
  filter: PositionFilter | null
  box: BoxTest | null
}

/** Estimated times of the ways to find positions, in ns per position. */
const COST = { scanned: 1, inBox: 8, candidate: 50 }
/** Nodes of the tree that are visited to estimate the number of positions in a box. */
const ESTIMATE_BUDGET = 200
/** More candidates are not collected: sorting them would block the event loop. */
export const MAX_CANDIDATES = 50_000
/** The number of positions that a scan tests first. */
const FIRST_STEP = 256
/** Positions that are tested between two looks at the clock, if they are tested one by one. */
const STEP = 512
/** Shorter runs of the tree are tested position by position. */
const SHORT_RUN = 64

/**
 * Finds the positions that match a filter and a box, in snapshot order, from `from` on. `wanted` is about how many
 * positions will be taken; it only decides which way is the fastest: all blocks in turn, the nodes of the tree in the
 * box, or the posting lists of the rarest value.
 */
export class PositionScan implements SlicedWork {
  readonly #source: ScanSource
  readonly #taker: PositionTaker
  readonly #work: SlicedWork

  constructor(source: ScanSource, from: number, wanted: number, taker: PositionTaker) {
    this.#source = source
    this.#taker = taker
    this.#work = this.#choose(from, wanted)
  }

  advance(until: number, geometry?: Geometry | null): number {
    return this.#work.advance(until, geometry)
  }

  loadMissing(): Promise<unknown> | null {
    return this.#work.loadMissing?.() ?? null
  }

  #choose(from: number, wanted: number): SlicedWork {
    const costs = costsOf(this.#source, from, wanted)
    if (costs.candidates < costs.all) return this.#candidates(from)
    return this.#source.box ? this.#boxWalk(from) : this.#blocks(from)
  }

  /** The positions of the rarest values, each tested against the whole filter and the box. */
  #candidates(from: number): SlicedWork {
    const { filter, box } = this.#source
    const matches = filter!.areCandidatesExact ? null : filter!.matches
    const list = filter!.ascendingList
    const walk = list ? new ListWalk(list, from) : walkOf(filter!.collectCandidates(from))
    return oneByOne(walk, matches, box, this.#taker)
  }

  /** The positions in the nodes of the tree that meet the box, then those without a location. */
  #boxWalk(from: number): SlicedWork {
    const { snapshot, filter, box } = this.#source
    const taker = this.#taker
    const walk = snapshot.tree.walk(box!.query.box, from)
    const placeless = box!.isPlacelessMatch ? Math.max(from, snapshot.tree.count) : snapshot.manifest.rows
    return new WalkedPositions({ walk, placeless, rows: snapshot.manifest.rows, filter, box: box!, taker })
  }

  #blocks(from: number): SlicedWork {
    const { snapshot, filter } = this.#source
    return new ScannedBlocks(snapshot.manifest.rows, filter, from, this.#taker)
  }
}

/** How long a scan takes, in ns: an estimate by the number of positions that are looked at. */
export function scanCost(source: ScanSource, from: number, wanted: number): number {
  const { candidates, all } = costsOf(source, from, wanted)
  return Math.min(candidates, all)
}

/**
 * Whether the candidates of an exact filter, whose columns are loaded without codes, are enough. Walking a list costs more
 * for each position than testing all of them, so it has to end as soon as a page is full, or the list has to be short.
 */
export function isDecidedByLists(
  filter: PositionFilter,
  { box, wanted, isCount = false }: { box: unknown; wanted: number; isCount?: boolean | undefined },
): boolean {
  if (filter.candidateCount <= MAX_CANDIDATES) return true
  return box === null && (isCount || (wanted < Infinity && filter.ascendingList !== null))
}

/** Whether a search from the first position on is faster if the candidates of the filter, which are not listed, are. */
export function isWorthListing(source: ScanSource, wanted: number): boolean {
  const { filter } = source
  if (!filter?.candidates || filter.candidateCount > MAX_CANDIDATES || filter.areCandidatesListed)
    return false
  return filter.candidateCount * COST.candidate < costsOf(source, 0, wanted).all
}

/** The costs of the posting lists, and of all positions or those in the box. */
function costsOf(
  { snapshot, filter, box }: ScanSource,
  from: number,
  wanted: number,
): { candidates: number; all: number } {
  const rest = snapshot.manifest.rows - from
  const tested = filter ? Math.min(rest, wanted / Math.max(filter.fraction, 1 / (rest + 1))) : wanted
  const candidates = filter ? candidatesToTest(filter, tested / Math.max(1, rest)) * COST.candidate : Infinity
  if (filter && !filter.hasCodes) return { candidates, all: Infinity }
  return {
    candidates,
    all: box
      ? Math.min(countInBox(snapshot, box), tested) * COST.inBox
      : Math.min(rest, tested) * COST.scanned,
  }
}

/** `share`: the share of all positions that are tested until enough of them match. */
function candidatesToTest(filter: PositionFilter, share: number): number {
  // One ascending list ends where enough have matched; several are collected and sorted first.
  if (filter.ascendingList) return filter.candidateCount * share
  const isFew = filter.areCandidatesListed && filter.candidateCount <= MAX_CANDIDATES
  return isFew ? filter.candidateCount : Infinity
}

/** An estimate: exact for small boxes if the tree is in memory, else by the share of the area. */
function countInBox({ tree, manifest }: Snapshot, { query }: BoxTest): number {
  const counted = tree.countByPinned(query.box, ESTIMATE_BUDGET)
  if (counted) return counted.certain + counted.uncertain.length
  const [west, south, east, north] = query.box
  const width = west <= east ? east - west : east + 360 - west
  const [w, s, e, n] = manifest.bbox ?? [-180, -90, 180, 90]
  const share = (width * (north - south)) / Math.max(1e-9, (e - w) * (n - s))
  return manifest.rows * Math.min(1, share)
}

/** Positions, one after the other: -1 after the last one, and BLOCKED if `loadMissing` has to be called. */
export interface PositionWalk {
  next(): number
  loadMissing?(): Promise<unknown> | null
}

function walkOf(positions: Uint32Array): PositionWalk {
  let i = 0
  return { next: () => (i < positions.length ? positions[i++]! : -1) }
}

/** Tests positions one by one. */
export function oneByOne(
  walk: PositionWalk,
  matches: ((position: number) => boolean) | null,
  box: BoxTest | null,
  taker: Pick<PositionTaker, 'take'>,
): SlicedWork {
  let position = -1
  let isBlocked = false
  return {
    advance(until, geometry) {
      if (geometry !== undefined) {
        if (box!.testGeometry(geometry) && taker.take(position)) return ENDED
      }
      for (let steps = 1; ; steps++) {
        if (steps % STEP === 0 && performance.now() > until) return PAUSED
        if (!isBlocked) position = walk.next()
        if (position === -1) return ENDED
        if (position === BLOCKED) return BLOCKED
        if (matches && !matches(position)) continue
        const isIn = box === null ? true : box.test(position)
        isBlocked = isIn === null
        if (isBlocked) return BLOCKED
        if (isIn === undefined) return position
        if (isIn && taker.take(position)) return ENDED
      }
    },
    loadMissing: () => walk.loadMissing?.() ?? null,
  }
}

/** All blocks in turn. Blocks whose smallest and largest codes rule out a match are skipped. */
class ScannedBlocks implements SlicedWork {
  readonly #rows: number
  readonly #filter: PositionFilter | null
  readonly #taker: PositionTaker
  #next: number
  /** Positions that are tested at once: few at first, because a page may be full soon. */
  #step = FIRST_STEP

  constructor(rows: number, filter: PositionFilter | null, from: number, taker: PositionTaker) {
    this.#rows = rows
    this.#filter = filter
    this.#next = from
    this.#taker = taker
  }

  advance(until: number): number {
    const taker = this.#taker
    const filter = this.#filter
    while (this.#next < this.#rows) {
      const from = this.#next
      const block = from >>> BLOCK_SHIFT
      const step = Math.min(this.#step, taker.step ?? BLOCK_ROWS)
      const end = Math.min(this.#rows, (block + 1) << BLOCK_SHIFT, from + step)
      if (this.#step < BLOCK_ROWS) this.#step *= 2
      if (takeMatches(filter, from, end, taker)) return ENDED
      this.#next = end
      if (performance.now() > until) return PAUSED
    }
    return ENDED
  }
}

/** Used by one scan at a time: a scan does not stop while it reads them. */
const matched = new Uint32Array(BLOCK_ROWS)

/** Passes on those of the positions from `from` to `to`, which are in one block, that match. */
function takeMatches(filter: PositionFilter | null, from: number, to: number, taker: PositionTaker): boolean {
  const state = filter ? filter.blockState(from >>> BLOCK_SHIFT) : ALL_POSITIONS
  if (state === ALL_POSITIONS) return taker.takeRun(from, to)
  if (state === NO_POSITIONS) return false
  if (taker.takeCount) {
    taker.takeCount(filter!.countMatches(from, to))
    return false
  }
  const count = filter!.collect(from, to, matched)
  return count > 0 && taker.takeList(matched, count)
}

interface WalkedParts {
  walk: TreeWalk
  /** The first position without a location that matches the box. */
  placeless: number
  rows: number
  filter: PositionFilter | null
  box: BoxTest
  taker: PositionTaker
}

class WalkedPositions implements SlicedWork {
  readonly #parts: WalkedParts
  #next = 0
  #end = 0
  #isCertain = false
  #isInTree = true
  /** Positions of a long run that are tested at once: few at first, because a page may be full soon. */
  #step = FIRST_STEP

  constructor(parts: WalkedParts) {
    this.#parts = parts
  }

  advance(until: number, geometry?: Geometry | null): number {
    const { filter, box, taker } = this.#parts
    if (geometry !== undefined) {
      const position = this.#next++
      if (box.testGeometry(geometry) && taker.take(position)) return ENDED
    }
    for (let tested = 0; ; ) {
      if (tested >= STEP) {
        if (performance.now() > until) return PAUSED
        tested = 0
      }
      if (this.#next === this.#end && !this.#nextRun()) return this.#parts.walk.isBlocked ? BLOCKED : ENDED
      const position = this.#next
      if (this.#isCertain && this.#end - position >= SHORT_RUN) {
        const end = this.#stepEnd(position)
        this.#next = end
        tested += end - position
        if (takeMatches(filter, position, end, taker)) return ENDED
        continue
      }
      tested++
      if (filter === null || filter.matches(position)) {
        const isIn = this.#isCertain ? true : box.test(position)
        if (isIn === null) return BLOCKED
        if (isIn === undefined) return position
        if (isIn && taker.take(position)) return ENDED
      }
      this.#next++
    }
  }

  #stepEnd(position: number): number {
    const step = Math.min(this.#step, this.#parts.taker.step ?? BLOCK_ROWS)
    if (this.#step < BLOCK_ROWS) this.#step *= 2
    return Math.min(this.#end, ((position >>> BLOCK_SHIFT) + 1) << BLOCK_SHIFT, position + step)
  }

  #nextRun(): boolean {
    const { walk, box, placeless, rows } = this.#parts
    if (this.#isInTree && walk.next()) {
      this.#next = walk.begin
      this.#end = walk.end
      this.#isCertain = walk.isCertain && box.isDecidedInside
      return true
    }
    if (walk.isBlocked || !this.#isInTree || placeless >= rows) return false
    this.#isInTree = false
    this.#next = placeless
    this.#end = rows
    this.#isCertain = true
    return true
  }
}
