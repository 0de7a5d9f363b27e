import { copyBytes } from './copy-bytes.ts'

/** A buffer that grows while bytes are appended to it. */
export class GrowingBytes {
  buffer: Buffer<ArrayBuffer>
  /** Covers the same bytes as `buffer`. */
  view: DataView<ArrayBuffer>
  length = 0
  readonly #max: number

  constructor(capacity = 1 << 12, max = Number.POSITIVE_INFINITY) {
    this.buffer = Buffer.allocUnsafeSlow(capacity)
    this.view = new DataView(this.buffer.buffer)
    this.#max = max
  }

  /** Makes room for `bytes` more bytes, which may replace `buffer` and `view`. */
  reserve(bytes: number): void {
    if (this.length + bytes > this.buffer.length) this.#grow(this.length + bytes)
  }

  /** Replaces the buffer by an empty one of this capacity. */
  protected shrink(capacity: number): void {
    this.buffer = Buffer.allocUnsafeSlow(capacity)
    this.view = new DataView(this.buffer.buffer)
    this.length = 0
  }

  /** At least doubles the capacity, so that the total work of copying stays linear. */
  #grow(needed: number): void {
    if (needed > this.#max) throw new RangeError(`more than ${this.#max} bytes`)
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(this.buffer.length * 2, this.#max)))
    this.buffer.copy(larger, 0, 0, this.length)
    this.buffer = larger
    this.view = new DataView(larger.buffer)
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.length++] = value
  }

  /** Appends an unsigned integer of at most 53 bits, as in protocol buffers. */
  varint(value: number): void {
    this.reserve(8)
    this.length = writeVarint(this.buffer, this.length, value)
  }

  /** Appends bytes of another buffer. */
  copy(from: Buffer, start: number, end: number): void {
    this.reserve(end - start)
    this.length = copyBytes(from, start, end, this.buffer, this.length)
  }

  /** The bytes written so far; valid until the next write. */
  bytes(): Buffer<ArrayBuffer> {
    return this.buffer.subarray(0, this.length)
  }
}

export function writeVarint(buffer: Buffer, at: number, value: number): number {
  let rest = value
  let to = at
  for (; rest > 0x7fff_ffff; rest = Math.floor(rest / 128)) buffer[to++] = (rest % 128) | 0x80
  for (; rest > 127; rest >>>= 7) buffer[to++] = (rest & 0x7f) | 0x80
  buffer[to++] = rest
  return to
}

export function varintLength(value: number): number {
  if (value < 0x80) return 1
  if (value < 0x4000) return 2
  if (value < 0x20_0000) return 3
  if (value < 0x1000_0000) return 4
  let length = 5
  for (let rest = value / 2 ** 35; rest >= 1; rest /= 128) length++
  return length
}
