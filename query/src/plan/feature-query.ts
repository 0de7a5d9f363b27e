import type { BoxQuery } from './box-query.ts'
import type { SortKey } from './sort-key.ts'

/** Which features are asked for and in which order, beside the conditions that a plan holds. */
export interface FeatureQuery {
  box: BoxQuery | null
  /** Only features with these ids; null for all. */
  ids: readonly string[] | null
  sort: readonly SortKey[]
  /** How many of the matching features are skipped. */
  offset: number
  /** Everything that determines which features match; counts are cached by it. */
  selection: string
}
