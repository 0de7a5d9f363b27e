import type { Snapshot } from '@wayleave/geodata/features'
import type { CompiledSelection } from '../by-codes/compiled-selection.ts'
import { PositionScan } from '../by-codes/position-scan.ts'
import type { DuckdbQueries } from '../by-duckdb/duckdb-queries.ts'
import { selectByDuckdb } from '../by-duckdb/select-by-duckdb.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { finish } from '../work/unfinished.ts'

/** Positions of the database between two looks at the clock. */
const STEP = 512

/** Gives the positions of all features that match to `matches`: those of the compiled columns, or the database's. */
export async function eachMatch(
  { snapshot, box, plan }: { snapshot: Snapshot; box: BoxQuery | null; plan: FilterPlan | null },
  matches: PositionTaker,
  work: TimedWork,
  deps: { compiled: CompiledSelection; duckdb: DuckdbQueries; geometries: GeometryCache },
): Promise<void> {
  const { compiled, duckdb, geometries } = deps
  const request = { snapshot, condition: plan?.condition ?? null, sort: [], box, wanted: Infinity }
  const prepared = await finish(compiled.prepare(request), work)
  if (prepared) {
    await finish(compiled.run(new PositionScan(prepared, 0, Infinity, matches), snapshot), work)
    return
  }
  const all = snapshot.manifest.rows
  const selection = { snapshot, plan, box, sort: [], after: -1, skip: 0, limit: all }
  const { runs } = await selectByDuckdb(selection, { duckdb, geometries, work })
  let count = 0
  for (let run = 0; run < runs.length; run++) {
    const end = runs.bounds[run * 2 + 1]!
    for (let position = runs.bounds[run * 2]!; position < end; position++) {
      matches.take(position)
      // Positions are counted, because scattered ones may skip every multiple.
      if (++count % STEP === 0) await work.next()
    }
  }
}
