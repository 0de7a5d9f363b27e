import { type DuckdbSelectionDeps, selectByDuckdb } from '../by-duckdb/select-by-duckdb.ts'
import type { FeatureSelection } from '../positions/feature-selection.ts'

/** Counting may take as long as the selection of the page did, or this long, in ms, if that was less. */
export const MIN_COUNT_MS = 1000

/**
 * The number of features that meet a query's conditions, on all pages. Null if counting them takes longer than
 * the query may. `selectedMs` is how long the selection of the page took.
 */
export async function countByDuckdb(
  { snapshot, plan, box, only }: Pick<FeatureSelection, 'snapshot' | 'plan' | 'box' | 'only'>,
  parts: DuckdbSelectionDeps,
  selectedMs: number,
): Promise<number | null> {
  const late = new Error('Counting takes too long.')
  const work = parts.work.part(Math.max(MIN_COUNT_MS, Math.ceil(selectedMs)), late)
  try {
    const limit = snapshot.manifest.rows
    const all = { snapshot, plan, box, only, sort: [], after: -1, skip: 0, limit }
    return (await selectByDuckdb(all, { ...parts, work })).runs.count
  } catch (error) {
    if (error === late) return null
    throw error
  } finally {
    work.end()
  }
}
