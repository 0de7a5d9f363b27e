import { type RowSelectionDeps, selectByRows } from '../by-duckdb/select-by-rows.ts'
import type { RowSelection } from '../positions/row-selection.ts'

/** Counting may take as long as the selection of the page did, or this long, in ms, if that was less. */
export const MIN_COUNT_MS = 1000

/**
 * The number of features that meet a query's conditions, on all pages. Null if counting them takes longer than
 * the query may. `selectedMs` is how long the selection of the page took.
 */
export async function countByRows(
  { snapshot, plan, box, only }: Pick<RowSelection, 'snapshot' | 'plan' | 'box' | 'only'>,
  parts: RowSelectionDeps,
  selectedMs: number,
): Promise<number | null> {
  const late = new Error('Counting takes too long.')
  const work = parts.work.part(Math.max(MIN_COUNT_MS, Math.ceil(selectedMs)), late)
  try {
    const limit = snapshot.manifest.rows
    const all = { snapshot, plan, box, only, sort: [], after: -1, skip: 0, limit }
    return (await selectByRows(all, { ...parts, work })).runs.count
  } catch (error) {
    if (error === late) return null
    throw error
  } finally {
    work.end()
  }
}
