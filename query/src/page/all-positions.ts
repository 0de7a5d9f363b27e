import { PositionBits, type Snapshot } from '@wayleave/geodata/features'
import { type CompiledSelection, compiledRequest } from '../by-codes/compiled-selection.ts'
import { PositionScan } from '../by-codes/position-scan.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
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
  const request = { ...compiledRequest(snapshot, query, plan), sort: [], isWhole: true }
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
