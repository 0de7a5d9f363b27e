/**
 * What is wrong with a publisher's file, in one sentence for the publisher: it names the file, and the row
 * where there is one. Every other error thrown while reading is a defect of ours.
 */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** The first problems found and how many there were: what publishing reports when nothing is published. */
export interface RowProblem {
  row: number
  message: string
}
