import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import {
  type FilterPlan,
  type MaybeUnfinished,
  type QueryEngine,
  type Selected,
  whenFinished,
} from '@wayleave/query'
import type { PageRequest } from './items-page.ts'

/** The features of a page and their total number, which is null if it is not cheap to determine. */
export interface SelectedPage {
  selected: Selected
  matched: number | null
}

/** Finds the features of a page and counts all matches; for `resulttype=hits` the number alone, always exact. */
export function selectPage(
  snapshot: Snapshot,
  { query, after }: PageRequest,
  plan: FilterPlan | null,
  { limit, runs }: { limit: number; runs?: PositionRuns },
  engine: Pick<QueryEngine, 'page' | 'count'>,
): MaybeUnfinished<SelectedPage> {
  if (query.hitsOnly) {
    const selected = { runs: new PositionRuns(), more: false }
    return whenFinished(engine.count(snapshot, query, plan, null), (matched) => ({ selected, matched }))
  }
  return whenFinished(engine.page(snapshot, query, plan, { after, limit, runs }), (selected, selectedMs) =>
    whenFinished(engine.count(snapshot, query, plan, { after, selected, selectedMs }), (matched) => ({
      selected,
      matched,
    })),
  )
}
