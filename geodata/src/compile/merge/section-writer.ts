import { writeSync } from 'node:fs'

type Numbers = Float64Array | Uint32Array

/** The numbers that are gathered before they are written. */
const BUFFER_NUMBERS = 1 << 15

/** Writes the numbers of one part of a file, one after the other, from a known offset on. */
export class SectionWriter {
  readonly #handle: number
  readonly #buffer: Numbers
  #at: number
  #count = 0
  #room: number

  /** `count` is how many numbers will be written. */
  constructor(handle: number, at: number, count: number, isWide: boolean) {
    const length = Math.min(count, BUFFER_NUMBERS)
    this.#handle = handle
    this.#at = at
    this.#room = count
    this.#buffer = isWide ? new Float64Array(length) : new Uint32Array(length)
  }

  add(value: number): void {
    if (this.#count === this.#buffer.length) this.#flush()
    this.#buffer[this.#count++] = value
  }

  /** Throws if not exactly as many numbers were added as announced. */
  finish(): void {
    this.#flush()
    if (this.#room !== 0) throw new Error(`a part of the index lacks ${this.#room} numbers`)
  }

  #flush(): void {
    this.#room -= this.#count
    if (this.#room < 0) throw new Error('a part of the index has too many numbers')
    const { buffer, BYTES_PER_ELEMENT } = this.#buffer
    writeWhole(this.#handle, new Uint8Array(buffer, 0, this.#count * BYTES_PER_ELEMENT), this.#at)
    this.#at += this.#count * BYTES_PER_ELEMENT
    this.#count = 0
  }
}

export function writeWhole(handle: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at, bytes.length - at, position + at)
}
