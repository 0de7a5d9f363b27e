/**
 * A snapshot's file is not what its manifest says: missing, of another size, with another checksum, or of a
 * format that this program does not read. The message is a sentence for the operator that names the file.
 */
export class DamagedSnapshotError extends Error {
  override name = 'DamagedSnapshotError'
  readonly file: string

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.file = file
  }
}
