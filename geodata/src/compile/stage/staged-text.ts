import { readDecimal } from '../../decimal.ts'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { ANY_TYPE, dateText, TYPE, utcText } from '../../pack/value-text.ts'
import type { PlainColumn } from '../plain-parquet.ts'
import { kindOfTextBytes } from '../values/text-kinds.ts'
import { areDates, areIntegers, areNumbers, areTimestamps, KIND } from '../values/value-kinds.ts'
import type { ColumnProfile, StagedAs } from './staged-column.ts'

/**
 * A column of a source in which all values are texts, staged from the source's bytes without creating
 * strings. A chunk of plain integers, numbers or booleans is staged in that type, which saves the database
 * from parsing texts. This is only done if the texts can be restored exactly, because another chunk may turn
 * the column into text.
 */
export class StagedText {
  readonly profile: ColumnProfile
  // Small at first, because a file may have thousands of columns.
  readonly #texts = new ColumnBytes(1 << 12)
  readonly #typed = new ColumnBytes(1 << 12)
  /** The start of each row's text; 0 if it has none. */
  readonly #starts: Uint32Array
  #rows = 0
  #chunkKinds = 0
  /** Whether the chunk's texts have the same form as in responses: shortest numbers, timestamps in UTC. */
  #isCanonical = false
  /** See StagedColumn. */
  #isNumber = false

  constructor(profile: ColumnProfile, maxRows: number) {
    this.profile = profile
    this.#starts = new Uint32Array(maxRows)
  }

  add(bytes: Uint8Array, start: number, end: number, isEscaped: boolean): void {
    this.#starts[this.#rows++] = end > start ? this.#texts.piece(bytes, start, end, isEscaped) : 0
  }

  /** Encodes the rows added since the last call; null if none of them has a value. */
  encode(): PlainColumn | null {
    const rows = this.#rows
    const bits = new Uint8Array(Math.ceil(rows / 8))
    let valueCount = 0
    for (let row = 0; row < rows; row++) {
      if (this.#starts[row] === 0) continue
      valueCount++
      bits[row >> 3]! |= 1 << (row & 7)
    }
    this.#chunkKinds = 0
    if (valueCount === 0) return null
    const kinds = this.#observe()
    this.#chunkKinds = kinds
    this.#isNumber = areNumbers(kinds) && (this.profile.kinds & KIND.number) !== 0
    this.profile.present += valueCount
    const [as, data] = this.#write(kinds)
    if (!this.profile.stagedAs.includes(as)) this.profile.stagedAs.push(as)
    return {
      name: `${this.profile.staged}:${as}`,
      type: as === 'integer' ? 'int64' : as === 'number' ? 'double' : as === 'boolean' ? 'boolean' : 'text',
      present: valueCount === rows ? null : bits,
      data,
    }
  }

  /** Discards the rows. The result of `encode` must have been written before. */
  clear(): void {
    this.#rows = 0
    this.#texts.clear()
  }

  /** See StagedColumn. */
  textTypes(): number {
    const kinds = this.#chunkKinds
    if (kinds === 0) return ANY_TYPE
    if (kinds === KIND.boolean) return TYPE.boolean
    if (this.#isNumber) return TYPE.number
    if (areIntegers(kinds)) return TYPE.integer
    if (areDates(kinds)) return TYPE.date | (kinds & KIND.slashed ? 0 : TYPE.text)
    if (areTimestamps(kinds)) return TYPE.timestamp | (this.#isCanonical ? TYPE.text : 0)
    return TYPE.text
  }

  writeText(row: number, out: ColumnBytes): void {
    const start = this.#starts[row]!
    if (start === 0) {
      out.ascii('null')
      return
    }
    const { buffer: bytes } = this.#texts
    const end = this.#texts.end(start)
    const kinds = this.#chunkKinds
    if (kinds === KIND.boolean) out.ascii(end - start === 4 ? 'true' : 'false')
    else if (this.#isNumber && !this.#isCanonical)
      out.jsonNumber(Number(bytes.toString('latin1', start, end)))
    else if (this.#isNumber) {
      out.copy(bytes, start, end)
      if (!hasPoint(bytes, start, end)) out.ascii('.0')
    } else if (areIntegers(kinds)) out.copy(bytes, start, end)
    else if (areTimestamps(kinds) && !this.#isCanonical)
      out.jsonString(utcText(bytes.toString('latin1', start, end)))
    else if (areDates(kinds) && kinds & KIND.slashed)
      out.jsonString(dateText(bytes.toString('latin1', start, end)))
    else out.jsonRange(bytes, start, end)
  }

  #observe(): number {
    const { profile } = this
    const { buffer: bytes } = this.#texts
    // Once text has been seen, nothing can change the column's type.
    if (profile.kinds & KIND.text) return KIND.text
    let kinds = 0
    for (let row = 0; row < this.#rows && (kinds & KIND.text) === 0; row++) {
      const start = this.#starts[row]!
      if (start > 0) kinds |= kindOfTextBytes(bytes, start, this.#texts.end(start))
    }
    profile.kinds |= kinds
    return kinds
  }

  #write(kinds: number): [StagedAs, Uint8Array] {
    let typed: Uint8Array | null = null
    if (kinds === KIND.integer) typed = this.#integers()
    else if (kinds === KIND.number || kinds === (KIND.number | KIND.integer)) typed = this.#numbers()
    this.#isCanonical = areTimestamps(kinds) ? (kinds & KIND.slashed) === 0 && this.#areUtc() : typed !== null
    if (typed === null) return ['text', this.#texts.bytes()]
    return [kinds === KIND.integer ? 'integer' : 'number', typed]
  }

  #areUtc(): boolean {
    const { buffer: bytes } = this.#texts
    for (let row = 0; row < this.#rows; row++) {
      const start = this.#starts[row]!
      if (start === 0) continue
      // `2020-12-28T12:30:00Z` is the only form of a timestamp with this length and these letters.
      if (
        this.#texts.end(start) - start !== 20 ||
        bytes[start + 10] !== LETTER_T ||
        bytes[start + 19] !== LETTER_Z
      )
        return false
    }
    return true
  }

  #integers(): Uint8Array {
    const { buffer: bytes } = this.#texts
    this.#typed.clear()
    for (let row = 0; row < this.#rows; row++) {
      const start = this.#starts[row]!
      if (start > 0) this.#typed.int64(readDecimal(bytes, start, this.#texts.end(start)))
    }
    return this.#typed.bytes()
  }

  /** Returns null if the database would format one of the numbers differently from the source. */
  #numbers(): Uint8Array | null {
    const { buffer: bytes } = this.#texts
    this.#typed.clear()
    for (let row = 0; row < this.#rows; row++) {
      const start = this.#starts[row]!
      if (start === 0) continue
      const end = this.#texts.end(start)
      let value = readDecimal(bytes, start, end)
      if (Number.isNaN(value)) {
        const text = bytes.toString('latin1', start, end)
        value = Number(text)
        if (String(value) !== text) return null
      } else if (!isShortest(bytes, start, end)) return null
      const size = Math.abs(value)
      if (size !== 0 && (size < 1e-4 || size >= 1e15)) return null
      this.#typed.double(value)
    }
    return this.#typed.bytes()
  }
}

const ZERO = 48
const POINT = 46
const MINUS = 45
const LETTER_T = 0x54
const LETTER_Z = 0x5a

/** Whether plain decimal digits have no redundant zeros. */
function isShortest(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (bytes[first] === ZERO && end > first + 1 && bytes[first + 1] !== POINT) return false
  if (first > start && end === first + 1 && bytes[first] === ZERO) return false
  return bytes[end - 1] !== ZERO || !hasPoint(bytes, first, end)
}

function hasPoint(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === POINT) return true
  return false
}
