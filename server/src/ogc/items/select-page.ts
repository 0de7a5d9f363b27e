import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import {
  type FilterPlan,
  type MaybeUnfinished,
  type QueryEngine,
  type Selected,
  whenFinished,
} from '@wayleave/query'
import type { PageRequest } from './items-page.ts'

/** The features of a page and the number of all matches, which is null if it was not counted. */
export interface SelectedPage {
  selected: Selected
  matched: number | null
}

/** Finds the features of a page and counts all matches as `count` asks; for `resulttype=hits` the number alone. */
export function selectPage(
  snapshot: Snapshot,
  { query, after }: PageRequest,
  plan: FilterPlan | null,
  { limit, runs }: { limit: number; runs?: PositionRuns },
  engine: Pick<QueryEngine, 'page' | 'count' | 'countCheaply'>,
): MaybeUnfinished<SelectedPage> {
  if (query.hitsOnly) {
    const selected = { runs: new PositionRuns(), more: false }
    return whenFinished(engine.count(snapshot, query, plan, null), (matched) => ({ selected, matched }))
  }
  return whenFinished(engine.page(snapshot, query, plan, { after, limit, runs }), (selected) => {
    if (query.count === 'none') return { selected, matched: null }
    const page = { after, selected }
    const counting =
      query.count === 'exact'
        ? engine.count(snapshot, query, plan, page)
        : engine.countCheaply(snapshot, query, plan, page)
    return whenFinished(counting, (matched) => ({ selected, matched }))
  })
}
