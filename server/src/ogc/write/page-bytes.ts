/** The bytes of a page as it is written: one buffer that grows, since thousands of pieces take long to join. */
export class PageBytes {
  #buffer: Buffer
  #length = 0

  /** `size` is how many are expected. */
  constructor(size = 1 << 16) {
    this.#buffer = Buffer.allocUnsafe(size)
  }

  get length(): number {
    return this.#length
  }

  /** Bytes of another buffer, from `start` to `end` (excluded). */
  copy(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start)
    this.#length += source.copy(this.#buffer, this.#length, start, end)
  }

  text(text: string): void {
    // No character of a string takes more than three bytes.
    this.#reserve(text.length * 3)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  all(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
