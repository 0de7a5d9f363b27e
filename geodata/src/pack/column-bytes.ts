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

/** A growing buffer for values in Parquet's PLAIN encoding, reused for every chunk. */
export class ColumnBytes {
  #bytes: Buffer
  #view: DataView
  #length = 0

  constructor(capacity = 1 << 16) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
    this.#view = new DataView(this.#bytes.buffer)
  }

  clear(): void {
    this.#length = 0
    // Release the memory of an unusually large feature instead of keeping it for the rest of the file.
    if (this.#bytes.length > 1 << 25) {
      this.#bytes = Buffer.allocUnsafeSlow(1 << 16)
      this.#view = new DataView(this.#bytes.buffer)
    }
  }

  /** The bytes written so far; valid until the next `clear` or write. */
  data(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** The underlying buffer, for reading what was written; valid as long as `data`. */
  get bytes(): Buffer {
    return this.#bytes
  }

  get length(): number {
    return this.#length
  }

  /** The end of the text that begins at `start`. */
  end(start: number): number {
    return start + this.#view.getUint32(start - 4, true)
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }

  double(value: number): void {
    this.#room(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  uint32(value: number): void {
    this.#room(4)
    this.#view.setUint32(this.#length, value, true)
    this.#length += 4
  }

  /** Overwrites a number that was written before. */
  setUint32(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  int64(value: number | bigint): void {
    this.#room(8)
    if (typeof value === 'bigint') this.#view.setBigInt64(this.#length, value, true)
    else {
      const high = Math.floor(value / 4294967296)
      this.#view.setInt32(this.#length, value - high * 4294967296, true)
      this.#view.setInt32(this.#length + 4, high, true)
    }
    this.#length += 8
  }

  text(value: string): void {
    const length = value.length
    // UTF-8 needs at most three bytes per UTF-16 code unit.
    this.#room(4 + length * 3)
    const start = this.#length + 4
    let size = length
    if (length > 40) size = this.#bytes.write(value, start)
    else {
      // For short ASCII texts this loop is faster than a native call.
      const bytes = this.#bytes
      for (let i = 0; i < length; i++) {
        const code = value.charCodeAt(i)
        if (code > 127) {
          size = bytes.write(value, start)
          break
        }
        bytes[start + i] = code
      }
    }
    this.#view.setUint32(this.#length, size, true)
    this.#length = start + size
  }

  /** Appends a text from a range of other bytes; returns its start. Doubled quotes become single ones. */
  piece(source: Uint8Array, from: number, to: number, isEscaped: boolean): number {
    this.#room(4 + to - from)
    const bytes = this.#bytes
    const start = this.#length + 4
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
    this.#view.setUint32(start - 4, at - start, true)
    this.#length = at
    return start
  }

  /** Begins a text that is written in pieces; `endText` ends it. */
  beginText(): number {
    this.#room(4)
    this.#length += 4
    return this.#length
  }

  endText(start: number): void {
    this.#view.setUint32(start - 4, this.#length - start, true)
  }

  /** Appends ASCII to an open text. */
  ascii(text: string): void {
    this.#room(text.length)
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i)
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
    this.#room(20)
    const bytes = this.#bytes
    if (value < 0) bytes[this.#length++] = MINUS
    // Both parts fit into 31 bits, in which division is fast.
    const whole = (scaled / 1e9) | 0
    this.#digits(whole, digitCount(whole))
    let fraction = (scaled - whole * 1e9) | 0
    if (fraction === 0) return
    let digits = 9
    while (fraction % 10 === 0) {
      fraction = (fraction / 10) | 0
      digits--
    }
    bytes[this.#length++] = POINT
    this.#digits(fraction, digits)
  }

  /** Appends an integer, as JavaScript formats it. Most need no conversion to text, which takes longer. */
  integer(value: number): void {
    const size = value | 0
    if (size !== value || size < 0) {
      this.ascii(String(value))
      return
    }
    this.#room(10)
    this.#digits(size, digitCount(size))
  }

  /** Appends an integer of at most 31 bits, padded with zeros to `count` digits. */
  #digits(value: number, count: number): void {
    let rest = value
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      const tenth = (rest / 10) | 0
      this.#bytes[at] = ZERO + rest - tenth * 10
      rest = tenth
    }
    this.#length += count
  }

  /** Appends bytes of another buffer. */
  range(source: Buffer, from: number, to: number): void {
    const size = to - from
    this.#room(size)
    const bytes = this.#bytes
    let at = this.#length
    if (size > 40) source.copy(bytes, at, from, to)
    else for (let i = from; i < to; i++) bytes[at++] = source[i]!
    this.#length += size
  }

  /** Appends text with any characters to an open text. */
  unicode(text: string): void {
    this.#room(text.length * 3)
    this.#length += this.#bytes.write(text, this.#length)
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
    this.#room(length + 2)
    const bytes = this.#bytes
    let at = this.#length
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
    this.#length = at
  }

  /** Appends a JSON string from UTF-8 bytes. */
  jsonRange(source: Buffer, from: number, to: number): void {
    this.#room(to - from + 2)
    const bytes = this.#bytes
    let at = this.#length
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
    this.#length = at
  }

  geometry(geometry: Geometry, withZ: boolean): void {
    const size = wkbSize(geometry, withZ)
    this.#room(4 + size)
    this.#view.setUint32(this.#length, size, true)
    writeWkbInto(geometry, this.#view, this.#length + 4, withZ)
    this.#length += 4 + size
  }
}

function digitCount(value: number): number {
  let count = 1
  for (let limit = 10; value >= limit; limit *= 10) count++
  return count
}
