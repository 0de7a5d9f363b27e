/** One column of a sort order. */
export interface SortKey {
  /** The index in `queryColumns`. */
  column: number
  descending: boolean
}
