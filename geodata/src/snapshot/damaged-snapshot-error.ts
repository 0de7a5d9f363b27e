/**
 * A file of a snapshot does not match its manifest: it is missing, has a different size or checksum, or has a
 * format version that this program cannot read. The message is a sentence for the operator that names the
 * file.
 */
export class DamagedSnapshotError extends Error {
  override name = 'DamagedSnapshotError'
  readonly file: string
  /** The folder of the snapshot, if more than one was read. */
  readonly folder: string | undefined

  constructor(file: string, message: string, options?: ErrorOptions & { folder?: string | undefined }) {
    super(message, options)
    this.file = file
    this.folder = options?.folder
  }
}
