/** A copy that cannot be made or trusted. The message is a sentence for the operator. */
export class CopyError extends Error {
  override name = 'CopyError'
}
