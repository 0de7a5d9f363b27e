import { copyBytes } from '../../../bytes/copy-bytes.ts'
import { GrowingBytes } from '../../../bytes/growing-bytes.ts'
import { putVarint, varintBytes } from './varint.ts'

/** Max bytes of a column's type and of the header's own length. */
const TYPE_BYTES = 5
const LENGTH_BYTES = 3
/** Whole numbers of REAL columns are stored as integers of up to six bytes, and larger ones as doubles. */
const MAX_SIX_BYTES = 2 ** 47 - 1

/**
 * One row in SQLite's record format (sqlite.org/fileformat2.html, section 2.1): a header with the type of each
 * value, then the values. Call `begin`, a method for each column, and `finish`; then the record is in
 * `buffer` from `start` to `end`.
 */
export class SqliteRecord {
  start = 0
  end = 0
  readonly #bytes = new GrowingBytes()
  /** The values begin here; the header is put in front of them when its length is known. */
  readonly #valuesAt: number
  readonly #types: Uint32Array
  #count = 0

  constructor(columns: number) {
    this.#types = new Uint32Array(columns)
    this.#valuesAt = LENGTH_BYTES + TYPE_BYTES * columns
    this.#bytes.reserve(this.#valuesAt)
  }

  get buffer(): Buffer {
    return this.#bytes.buffer
  }

  begin(): void {
    this.#count = 0
    this.#bytes.length = this.#valuesAt
  }

  null(): void {
    this.#types[this.#count++] = 0
  }

  /** An integer that is exact in a double. */
  integer(value: number): void {
    if (value === 0 || value === 1) {
      this.#types[this.#count++] = value === 0 ? 8 : 9
      return
    }
    this.#bytes.reserve(8)
    const { view, length: at } = this.#bytes
    const bits = value < 0 ? -1 - value : value
    if (bits < 2 ** 7) {
      view.setInt8(at, value)
      this.#end(1, 1)
    } else if (bits < 2 ** 15) {
      view.setInt16(at, value)
      this.#end(2, 2)
    } else if (bits < 2 ** 23) {
      view.setInt16(at, value >> 8)
      view.setUint8(at + 2, value & 0xff)
      this.#end(3, 3)
    } else if (bits < 2 ** 31) {
      view.setInt32(at, value)
      this.#end(4, 4)
    } else {
      const high = Math.floor(value / 2 ** 32)
      const isShort = bits <= MAX_SIX_BYTES
      if (isShort) view.setInt16(at, high)
      else view.setInt32(at, high)
      view.setUint32(at + (isShort ? 2 : 4), value - high * 2 ** 32)
      this.#end(isShort ? 5 : 6, isShort ? 6 : 8)
    }
  }

  /** An integer of 64 bits. */
  bigint(value: bigint): void {
    this.#bytes.reserve(8)
    this.#bytes.view.setBigInt64(this.#bytes.length, value)
    this.#end(6, 8)
  }

  /** A value of a column of the type REAL. */
  real(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) <= MAX_SIX_BYTES) {
      this.integer(value)
      return
    }
    this.#bytes.reserve(8)
    this.#bytes.view.setFloat64(this.#bytes.length, value)
    this.#end(7, 8)
  }

  /** A text whose UTF-8 bytes are in `from`. */
  text(from: Buffer, start: number, end: number): void {
    this.#bytes.reserve(end - start)
    copyBytes(from, start, end, this.#bytes.buffer, this.#bytes.length)
    this.#end(13 + (end - start) * 2, end - start)
  }

  /** A text that ends with other bytes. */
  texts(from: Buffer, start: number, end: number, last: Buffer): void {
    const length = end - start + last.length
    this.#bytes.reserve(length)
    const { buffer } = this.#bytes
    copyBytes(last, 0, last.length, buffer, copyBytes(from, start, end, buffer, this.#bytes.length))
    this.#end(13 + length * 2, length)
  }

  string(text: string): void {
    this.#bytes.reserve(text.length * 3)
    const written = this.#bytes.buffer.write(text, this.#bytes.length)
    this.#end(13 + written * 2, written)
  }

  /** A blob of up to `maxBytes` bytes; `put` writes it from an offset on and returns its end. */
  blob(maxBytes: number, put: (view: DataView, at: number) => number): void {
    this.#bytes.reserve(maxBytes)
    const length = put(this.#bytes.view, this.#bytes.length) - this.#bytes.length
    this.#end(12 + length * 2, length)
  }

  finish(): void {
    const { buffer } = this.#bytes
    let length = 1
    for (let i = 0; i < this.#count; i++) length += varintBytes(this.#types[i]!)
    if (length > 127) length += length + 1 > 16_383 ? 2 : 1
    this.start = this.#valuesAt - length
    this.end = this.#bytes.length
    let at = putVarint(buffer, this.start, length)
    for (let i = 0; i < this.#count; i++) at = putVarint(buffer, at, this.#types[i]!)
  }

  #end(type: number, bytes: number): void {
    this.#types[this.#count++] = type
    this.#bytes.length += bytes
  }
}
