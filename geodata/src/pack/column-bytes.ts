import { GrowingBytes } from '../bytes/growing-bytes.ts'
import type { Geometry } from '../feature.ts'
import { wkbSize, writeWkbInto } from '../geometry/wkb.ts'
import { escapeText, numberText } from './value-text.ts'

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e
const QUOTE = 0x22
const BACKSLASH = 0x5c
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be escaped
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/g

/** The memory that an unusually large feature has taken is released beyond this. */
const MAX_KEPT = 1 << 25
const CAPACITY = 1 << 16

/** Values in Parquet's PLAIN encoding. It is reused for every chunk. */
export class ColumnBytes extends GrowingBytes {
  constructor(capacity = CAPACITY) {
    super(capacity)
  }

  clear(): void {
    this.length = 0
    if (this.buffer.length > MAX_KEPT) this.shrink(CAPACITY)
  }

  /** The end of the text that begins at `start`. */
  end(start: number): number {
    return start + this.view.getUint32(start - 4, true)
  }

  double(value: number): void {
    this.reserve(8)
    this.view.setFloat64(this.length, value, true)
    this.length += 8
  }

  uint32(value: number): void {
    this.reserve(4)
    this.view.setUint32(this.length, value, true)
    this.length += 4
  }

  /** Overwrites a number that was written before. */
  setUint32(at: number, value: number): void {
    this.view.setUint32(at, value, true)
  }

  int64(value: number | bigint): void {
    this.reserve(8)
    if (typeof value === 'bigint') this.view.setBigInt64(this.length, value, true)
    else {
      const high = Math.floor(value / 4294967296)
      this.view.setInt32(this.length, value - high * 4294967296, true)
      this.view.setInt32(this.length + 4, high, true)
    }
    this.length += 8
  }

  int64Halves(high: number, low: number): void {
    this.reserve(8)
    this.view.setInt32(this.length, low, true)
    this.view.setInt32(this.length + 4, high, true)
    this.length += 8
  }

  text(value: string): void {
    const length = value.length
    // UTF-8 needs at most three bytes per UTF-16 code unit.
    this.reserve(4 + length * 3)
    const start = this.length + 4
    let size = length
    if (length > 40) size = this.buffer.write(value, start)
    else {
      // For short ASCII texts this loop is faster than a native call.
      const bytes = this.buffer
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i)
        if (code > 127) {
          size = bytes.write(value, start)
          break
        }
        bytes[start + i] = code
      }
    }
    this.view.setUint32(this.length, size, true)
    this.length = start + size
  }

  /** Appends a text from a range of other bytes; returns its start. Doubled quotes become single ones. */
  piece(source: Uint8Array, from: number, to: number, isEscaped: boolean): number {
    this.reserve(4 + to - from)
    const bytes = this.buffer
    const start = this.length + 4
    let at = start
    if (isEscaped) {
      for (let i = from; i < to; i++) {
        bytes[at++] = source[i]!
        if (source[i] === QUOTE) i++
      }
    } else if (to - from > 40) {
      bytes.set(source.subarray(from, to), start)
      at += to - from
    } else for (let i = from; i < to; i++) bytes[at++] = source[i]!
    this.view.setUint32(start - 4, at - start, true)
    this.length = at
    return start
  }

  /** Begins a text that is written in pieces; `endText` ends it. */
  beginText(): number {
    this.reserve(4)
    this.length += 4
    return this.length
  }

  endText(start: number): void {
    this.view.setUint32(start - 4, this.length - start, true)
  }

  /** Appends ASCII to an open text. */
  ascii(text: string): void {
    this.reserve(text.length)
    for (let i = 0; i < text.length; i++) this.buffer[this.length++] = text.charCodeAt(i)
  }

  /**
   * Appends a number to an open text, formatted as JavaScript does. Numbers with at most nine decimals, as
   * coordinates usually are, are formatted with integer arithmetic in a tenth of the time. The check that the
   * digits parse back exactly also makes them the shortest ones, because different decimals of at most 15
   * digits are always different doubles.
   */
  number(value: number): void {
    const scaled = Math.round(Math.abs(value) * 1e9)
    // Below 1e-6 JavaScript uses exponents.
    if (scaled > 999_999_999_999_999 || scaled / 1e9 !== Math.abs(value) || (scaled < 1000 && scaled > 0)) {
      this.ascii(String(value))
      return
    }
    this.reserve(20)
    const bytes = this.buffer
    if (value < 0) bytes[this.length++] = MINUS
    // Both parts fit into 31 bits, in which division is fast.
    const whole = (scaled / 1e9) | 0
    this.#digits(whole, digitCount(whole))
    this.fraction((scaled - whole * 1e9) | 0, 9)
  }

  /** Appends a point and this many decimals, without zeros at their end, to an open text; nothing for 0. */
  fraction(value: number, decimals: number): void {
    if (value === 0) return
    this.reserve(1 + decimals)
    let rest = value
    let digits = decimals
    while (rest % 10 === 0) {
      rest = (rest / 10) | 0
      digits--
    }
    this.buffer[this.length++] = POINT
    this.#digits(rest, digits)
  }

  /** Appends an integer, as JavaScript formats it. Most need no conversion to text, which takes longer. */
  integer(value: number): void {
    const size = value | 0
    if (size !== value || size < 0) {
      this.ascii(String(value))
      return
    }
    this.reserve(10)
    this.#digits(size, digitCount(size))
  }

  /** Appends an integer of at most 31 bits, padded with zeros to `count` digits. */
  #digits(value: number, count: number): void {
    let rest = value
    for (let at = this.length + count - 1; at >= this.length; at--) {
      const tenth = (rest / 10) | 0
      this.buffer[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    this.length += count
  }

  /** Appends text with any characters to an open text. */
  unicode(text: string): void {
    this.reserve(text.length * 3)
    this.length += this.buffer.write(text, this.length)
  }

  /** Appends a value of a number column in the format of `numberText`. */
  jsonNumber(value: number): void {
    const size = Math.abs(value)
    if (size >= 1e-4 && size < 1e15) {
      this.number(value)
      if (Number.isInteger(value)) this.ascii('.0')
    } else this.ascii(numberText(value))
  }

  /** Appends a JSON string. */
  jsonString(value: string): void {
    const length = value.length
    this.reserve(length + 2)
    const bytes = this.buffer
    let at = this.length
    bytes[at++] = QUOTE
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
        this.unicode(`"${value.replace(NEEDS_ESCAPE, escapeText)}"`)
        return
      }
      bytes[at++] = code
    }
    bytes[at++] = QUOTE
    this.length = at
  }

  /** Appends a JSON string from UTF-8 bytes. */
  jsonRange(source: Buffer, from: number, to: number): void {
    this.reserve(to - from + 2)
    const bytes = this.buffer
    let at = this.length
    bytes[at++] = QUOTE
    for (let i = from; i < to; i++) {
      const byte = source[i]!
      if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) {
        this.unicode(`"${source.toString('utf8', from, to).replace(NEEDS_ESCAPE, escapeText)}"`)
        return
      }
      bytes[at++] = byte
    }
    bytes[at++] = QUOTE
    this.length = at
  }

  geometry(geometry: Geometry, withZ: boolean): void {
    const size = wkbSize(geometry, withZ)
    this.reserve(4 + size)
    this.view.setUint32(this.length, size, true)
    writeWkbInto(geometry, this.view, this.length + 4, withZ)
    this.length += 4 + size
  }
}

function digitCount(value: number): number {
  let count = 1
  for (let limit = 10; value >= limit; limit *= 10) count++
  return count
}
