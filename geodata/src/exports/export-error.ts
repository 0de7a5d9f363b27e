/**
 * Why an export could not be built.
 *
 * - `disk-full`: the disk has no room; nothing of the file was kept.
 * - `shapefile-too-large`: the data does not fit a shapefile's limits; the sentence names the limit.
 * - `snapshot-damaged`: the snapshot's files contradict each other.
 * - `build-failed`: anything else that ended the process that built it.
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

/** SQLite says SQLITE_FULL (13) where the operating system says ENOSPC. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'disk-full' || errcode === 13
}
