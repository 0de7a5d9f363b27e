/** Apart from the record, so that the command line can list them without loading the schemas. */
export const JOB_STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]

/** Whether a job in this state changes no more. */
export function isJobEnded(state: JobState): boolean {
  return state !== 'waiting' && state !== 'running'
}

/**
 * An upload becomes a version, or is only inspected; a download format, the vector tiles of a version, or a part of the
 * tiles of a large one are built.
 */
export const JOB_KINDS = ['publish', 'inspect', 'export', 'tiles', 'part'] as const
export type JobKind = (typeof JOB_KINDS)[number]
