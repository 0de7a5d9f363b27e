import { DamagedSnapshotError } from './damaged-snapshot-error.ts'

/** What a worker thread sends if its work fails: an error class does not survive a message. */
export type ThreadFailure = { damaged: { file: string; message: string } } | { failed: string }

export function failureOf(error: unknown): ThreadFailure {
  if (error instanceof DamagedSnapshotError) return { damaged: { file: error.file, message: error.message } }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

/** The error to throw in the thread that asked. */
export function errorOf(failure: ThreadFailure): Error {
  return 'damaged' in failure
    ? new DamagedSnapshotError(failure.damaged.file, failure.damaged.message)
    : new Error(failure.failed)
}
