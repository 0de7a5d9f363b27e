import type { PositionRuns } from '@wayleave/geodata/features'

/** The features of one page, in the order of the response. */
export interface Selected {
  runs: PositionRuns
  /** Whether there are more features after these. */
  more: boolean
}
