import {
  BLOCK_ROWS,
  BLOCK_SHIFT,
  type IndexTree,
  PositionBits,
  PositionRuns,
  type Snapshot,
} from '@wayleave/geodata/features'
import type { Bbox } from '@wayleave/geodata/geometry'
import { type CompiledSelection, compiledRequest } from '../by-codes/compiled-selection.ts'
import type { PositionFilter } from '../by-codes/position-filter.ts'
import { ALL_POSITIONS, NO_POSITIONS } from '../by-codes/position-mask.ts'
import { PositionScan } from '../by-codes/position-scan.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
import { eachRunInBox } from '../positions/positions-in-box.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { finish } from '../work/unfinished.ts'
import type { PageSelection } from './page-selection.ts'

/** The positions of all features that match. */
export async function allPositions(
  snapshot: Snapshot,
  query: FeatureQuery,
  plan: FilterPlan | null,
  work: TimedWork,
  { compiled, pages }: { compiled: CompiledSelection; pages: PageSelection },
): Promise<PositionBits> {
  const { rows } = snapshot.manifest
  const positions = PositionBits.empty(rows)
  const request = { ...compiledRequest(snapshot, query, plan, Infinity), sort: [] }
  const prepared = query.ids ? null : await finish(compiled.prepare(request), work)
  if (prepared) {
    const scan = new PositionScan(prepared, 0, Infinity, takerOf(positions))
    await finish(compiled.run(scan, snapshot), work)
    return positions
  }
  const all = { ...query, sort: [], offset: 0 }
  const { runs } = await finish(pages.select(snapshot, all, plan, { after: -1, limit: rows }), work)
  positions.addRuns(runs)
  return positions
}

/** Below this many candidates, all matches are found faster than those in a box. */
const FEW_CANDIDATES = 1000
/** If a box has more than this share of the features, it is worth finding all matches once. */
const MAX_SHARE = 0.25
/** Shorter runs are tested position by position. */
const SHORT_RUN = 8

/**
 * The positions of the matches whose boxes meet a box. Null if that takes about as long as finding all matches, or
 * if the database has to decide.
 */
export async function positionsNear(
  snapshot: Snapshot,
  query: FeatureQuery,
  plan: FilterPlan | null,
  box: Bbox,
  work: TimedWork,
  compiled: CompiledSelection,
): Promise<PositionBits | null> {
  const { rows } = snapshot.manifest
  const runs = await runsIn(snapshot.tree, box)
  if (runs.count > rows * MAX_SHARE) return null
  const request = { ...compiledRequest(snapshot, query, plan, Infinity), sort: [] }
  const filter = (await finish(compiled.prepare(request), work))?.filter
  if (!filter?.hasCodes || filter.candidateCount < FEW_CANDIDATES) return null
  const positions = PositionBits.empty(rows)
  let tested = 0
  for (const [begin, end] of blocksOf(runs)) {
    addMatches(filter, begin, end, positions)
    tested += end - begin
    if (tested < BLOCK_ROWS) continue
    await work.next()
    tested = 0
  }
  return positions
}

/** The features whose boxes meet a box. Runs that touch are joined. */
async function runsIn(tree: IndexTree, box: Bbox): Promise<PositionRuns> {
  const runs = new PositionRuns()
  await eachRunInBox(tree, box, (begin, end) => runs.add(begin, end))
  return runs
}

/** Runs, divided where a block of codes ends. */
function* blocksOf({ bounds, length }: PositionRuns): Generator<[begin: number, end: number]> {
  for (let run = 0; run < length; run++) {
    const end = bounds[run * 2 + 1]!
    for (let begin = bounds[run * 2]!; begin < end; ) {
      const blockEnd = Math.min(end, ((begin >>> BLOCK_SHIFT) + 1) << BLOCK_SHIFT)
      yield [begin, blockEnd]
      begin = blockEnd
    }
  }
}

/** Used by one search at a time: it does not pause while it reads it. */
const collected = new Uint32Array(BLOCK_ROWS)

function addMatches(filter: PositionFilter, begin: number, end: number, positions: PositionBits): void {
  if (end - begin < SHORT_RUN) {
    for (let position = begin; position < end; position++)
      if (filter.matches(position)) positions.add(position)
    return
  }
  const state = filter.blockState(begin >>> BLOCK_SHIFT)
  if (state === ALL_POSITIONS) positions.addRun(begin, end)
  else if (state !== NO_POSITIONS) positions.addFirst(filter.collect(begin, end, collected), collected)
}

/** Puts all positions of a scan into a set. */
function takerOf(positions: PositionBits): PositionTaker {
  return {
    take(position) {
      positions.add(position)
      return false
    },
    takeRun(begin, end) {
      positions.addRun(begin, end)
      return false
    },
    takeList(list, count) {
      positions.addFirst(count, list)
      return false
    },
  }
}
