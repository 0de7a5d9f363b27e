import { DamagedSnapshotError } from './damaged-snapshot-error.ts'

/** What a worker thread sends if its work fails: an error class does not survive a message. */
export type ThreadFailure =
  | { damaged: { file: string; message: string } }
  | { failed: string; code?: unknown }

export function failureOf(error: unknown): ThreadFailure {
  if (error instanceof DamagedSnapshotError) return { damaged: { file: error.file, message: error.message } }
  if (!(error instanceof Error)) return { failed: String(error) }
  // The code says, for example, that the disk is full.
  return { failed: error.stack ?? error.message, code: (error as NodeJS.ErrnoException).code }
}

/** The error to throw in the thread that asked. */
export function errorOf(failure: ThreadFailure): Error {
  return 'damaged' in failure
    ? new DamagedSnapshotError(failure.damaged.file, failure.damaged.message)
    : Object.assign(new Error(failure.failed), { code: failure.code })
}
