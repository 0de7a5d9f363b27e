import { count, plural } from '../words.ts'
import type { View } from './feature-tiles.ts'

/** Describes what the map shows, and how to see more. */
export function viewWords(
  view: View | null,
  kind: 'all' | 'signed-out' | 'locked' | null,
  loading: boolean,
  rows: number,
): string {
  if (!view) return 'Loading the features'
  const shown = view.features.length
  if (kind === 'signed-out') return `The sample, ${plural(shown, 'feature')}. Sign in to see all.`
  if (kind === 'locked') {
    return `The sample, ${plural(shown, 'feature')}. All of them need the add-on GIS_ACCESS.`
  }
  if (loading) return `${plural(shown, 'feature')}, more on the way`
  if (view.complete) return plural(shown, 'feature')
  // A feature on the edge between two tiles is counted in both.
  const matched = view.matched === null ? null : Math.min(view.matched, rows)
  if (shown === 0)
    return `${matched === null ? 'Many features' : plural(matched, 'feature')}. Zoom in to see them.`
  return `Showing ${count(shown)} of ${matched === null ? 'many' : count(matched)}. Zoom in to see all.`
}
