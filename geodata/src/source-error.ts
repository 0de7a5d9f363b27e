/**
 * A problem with a publisher's file, in one sentence for the publisher that names the file, and the row if
 * there is one. Any other error thrown while reading is a bug.
 */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** A problem of one row. If nothing is published, the first problems and their number are reported. */
export interface RowProblem {
  row: number
  message: string
}
