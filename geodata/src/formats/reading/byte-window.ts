/** A buffered window over a source, for formats whose parts are prefixed with their length. */
export class ByteWindow {
  bytes: Buffer = Buffer.alloc(0)
  /** The read offset in `bytes`, which the reader advances. */
  at = 0
  bytesRead = 0
  readonly #source: AsyncIterator<Uint8Array>

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#source = bytes[Symbol.asyncIterator]()
  }

  /** The number of bytes that can be read without waiting. */
  get available(): number {
    return this.bytes.length - this.at
  }

  /** The read offset in the source. */
  get position(): number {
    return this.bytesRead - this.available
  }

  /** Makes `needed` bytes available; returns false if the source ends before. */
  async fill(needed: number): Promise<boolean> {
    if (this.available >= needed) return true
    const pieces: Uint8Array[] = [this.bytes.subarray(this.at)]
    let length = this.available
    while (length < needed) {
      const { value, done } = await this.#source.next()
      if (done) break
      pieces.push(value)
      length += value.length
      this.bytesRead += value.length
    }
    this.bytes = Buffer.concat(pieces, length)
    this.at = 0
    return length >= needed
  }

  /** Skips bytes without keeping them; returns false if the source ends before. */
  async skip(bytes: number): Promise<boolean> {
    let remainingBytes = bytes
    while (remainingBytes > this.available) {
      remainingBytes -= this.available
      this.at = this.bytes.length
      if (!(await this.fill(1))) return false
    }
    this.at += remainingBytes
    return true
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }
}
