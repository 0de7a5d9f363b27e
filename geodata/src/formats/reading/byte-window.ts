/** Bytes of a source that are being looked at, for formats whose parts say how long they are. */
export class ByteWindow {
  bytes: Buffer = Buffer.alloc(0)
  /** Where in `bytes` the reading stands; the reader moves it. */
  at = 0
  bytesRead = 0
  readonly #source: AsyncIterator<Uint8Array>

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#source = bytes[Symbol.asyncIterator]()
  }

  /** Bytes that can be read without waiting. */
  get available(): number {
    return this.bytes.length - this.at
  }

  /** How far the reading has come in the source. */
  get position(): number {
    return this.bytesRead - this.available
  }

  /** Makes `needed` bytes available; false where the source ends before. */
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

  /** Passes over bytes without keeping them; false where the source ends before. */
  async skip(bytes: number): Promise<boolean> {
    let left = bytes
    while (left > this.available) {
      left -= this.available
      this.at = this.bytes.length
      if (!(await this.fill(1))) return false
    }
    this.at += left
    return true
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }
}
