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

/** SQLite reports SQLITE_FULL (13) when the operating system reports ENOSPC. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'disk-full' || errcode === 13
}
