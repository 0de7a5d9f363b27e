/** The job belongs to another worker, or was cancelled. The results of this attempt must not become visible. */
export class AttemptLostError extends Error {
  override name = 'AttemptLostError'
}

/** What the job was to make is no longer wanted: it ends as cancelled, which is not a failure. */
export class JobObsoleteError extends Error {
  override name = 'JobObsoleteError'
}

/**
 * Something that the job needs was unavailable, or the process that did the work was ended from outside. The
 * job is not at fault: it is retried later.
 */
export class RetryLaterError extends Error {
  override name = 'RetryLaterError'
  /** Whether the job may be at fault nevertheless, so that it is not retried more often than other failures. */
  readonly countsAsAttempt: boolean

  constructor(message: string, options: ErrorOptions & { countsAsAttempt?: boolean } = {}) {
    super(message, options)
    this.countsAsAttempt = options.countsAsAttempt ?? false
  }
}
