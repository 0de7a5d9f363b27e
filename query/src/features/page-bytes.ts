/**
 * The bytes of a page that is being written: one growing buffer, because joining thousands of pieces is slow.
 */
export class PageBytes {
  #buffer: Buffer
  #length = 0

  /** `size` is the expected number of bytes. */
  constructor(size = 1 << 16) {
    this.#buffer = Buffer.allocUnsafe(size)
  }

  get length(): number {
    return this.#length
  }

  /** Appends bytes of another buffer, from `start` to `end` (exclusive). */
  copy(source: Buffer, start = 0, end = source.length): void {
    this.#reserve(end - start)
    this.#length += source.copy(this.#buffer, this.#length, start, end)
  }

  text(text: string): void {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
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
