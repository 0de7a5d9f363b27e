/**
 * Why an export could not be built.
 *
 * - `disk-full`: the disk is full; the partial file was removed.
 * - `shapefile-too-large`: the data exceeds a limit of shapefiles; the message names the limit.
 * - `snapshot-damaged`: the snapshot's files contradict each other.
 * - `build-failed`: any other reason why the building process ended.
 */
export type ExportErrorCode = 'disk-full' | 'shapefile-too-large' | 'snapshot-damaged' | 'build-failed'

export class ExportError extends Error {
  override name = 'ExportError'
  readonly code: ExportErrorCode

  constructor(code: ExportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The process that built a file ended without a result: it was killed, or crashed. */
export class ProcessEndedError extends ExportError {
  override name = 'ProcessEndedError'

  constructor(end: string, stderr: string) {
    super('build-failed', `The process ended without a result (${end}): ${stderr.trim()}`)
  }
}

/** SQLite reports SQLITE_FULL (13) when the operating system reports ENOSPC. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'disk-full' || errcode === 13
}
