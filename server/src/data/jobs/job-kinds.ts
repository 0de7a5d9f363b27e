import { JOB_KINDS, type JobKind } from '@wayleave/contract/job-states'

export { JOB_KINDS, type JobKind }

/**
 * Jobs with a higher priority are claimed first. A client is waiting for the response to a download, and a
 * publisher for a preview or a version, but not for a source that is due; tiles are built in the background, unless a map
 * has asked for them. The uploads that a publisher sends while one of its own has not ended wait for the first ones of
 * others.
 */
export const PRIORITIES = {
  export: 30,
  inspect: 25,
  publish: 20,
  furtherUploads: 17,
  scheduledSource: 15,
  requestedTiles: 10,
  tiles: 0,
  part: 0,
} as const

/** The jobs of one queue run one at a time, the oldest first: versions of a table, files of a snapshot. */
export function queueOf(kind: JobKind, subject: string): string {
  return `${kind} ${subject}`
}
