import { isUtf8 } from 'node:buffer'
import type { Value } from '../../feature.ts'
import type { PgcopyKind } from '../../formats/pgcopy/pgcopy-header.ts'
import { DECODERS, dateText, timePieces, timestampText } from '../../formats/pgcopy/pgcopy-values.ts'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { ANY_TYPE, TYPE } from '../../pack/value-text.ts'
import type { PlainColumn } from '../plain-parquet.ts'
import { areDates, areTimestamps, KIND, kindOfValue } from '../values/value-kinds.ts'
import { type ColumnProfile, type StagedAs, StagedColumn } from './staged-column.ts'

/**
 * A column of rows that PostgreSQL sent in binary, staged from their bytes: for most types neither strings nor
 * objects are made for a value. What is staged is what `StagedColumn` makes of the same values.
 */
export interface StagedField {
  readonly profile: ColumnProfile
  /** Adds a value; a length of -1 is a missing one. */
  add(bytes: Buffer, start: number, length: number): void
  /** See StagedText. */
  encode(): PlainColumn | null
  clear(): void
  textTypes(): number
  writeText(row: number, out: ColumnBytes): void
}

export function stagedField(kind: PgcopyKind, profile: ColumnProfile, maxRows: number): StagedField {
  switch (kind) {
    case 'boolean':
      return new StagedBooleans(profile, maxRows)
    case 'int2':
    case 'int4':
    case 'int8':
      return new StagedIntegers(profile, maxRows)
    case 'float8':
      return new StagedDoubles(profile, maxRows)
    case 'text':
    case 'date':
    case 'timestamp':
      return new StagedStrings(profile, maxRows, kind)
    case 'decimal':
    case 'json':
      return new StagedValues(profile, kind)
    case 'geometry':
      throw new Error('A geometry is not staged as a column.')
  }
}

/** What the columns below share: which rows have a value, and the statistics. */
abstract class Staged implements StagedField {
  readonly profile: ColumnProfile
  // Small at first, because a table may have a thousand columns.
  protected readonly data = new ColumnBytes(1 << 12)
  protected readonly isPresent: Uint8Array
  protected rows = 0
  protected present = 0
  protected kinds = 0
  readonly #as: StagedAs

  constructor(profile: ColumnProfile, maxRows: number, as: StagedAs) {
    this.profile = profile
    this.isPresent = new Uint8Array(maxRows)
    this.#as = as
  }

  add(bytes: Buffer, start: number, length: number): void {
    const row = this.rows++
    const kind = length < 0 ? 0 : this.take(bytes, start, length, row)
    this.isPresent[row] = kind === 0 ? 0 : 1
    if (kind === 0) return
    this.kinds |= kind
    this.present++
  }

  /** Appends the value; returns its kind, or 0 if it counts as missing. */
  protected abstract take(bytes: Buffer, start: number, length: number, row: number): number
  protected abstract write(row: number, out: ColumnBytes): void
  /** For kinds other than 0. */
  protected abstract types(): number

  encode(): PlainColumn | null {
    const { profile, rows, present } = this
    profile.kinds |= this.kinds
    profile.present += present
    if (present === 0) return null
    const as = this.#as
    if (!profile.stagedAs.includes(as)) profile.stagedAs.push(as)
    const type = as === 'integer' ? 'int64' : as === 'number' ? 'double' : as === 'boolean' ? as : 'text'
    const bits = present === rows ? null : packBits(this.isPresent, rows)
    return { name: `${profile.staged}:${as}`, type, present: bits, data: this.encoded() }
  }

  protected encoded(): Uint8Array {
    return this.data.bytes()
  }

  textTypes(): number {
    return this.kinds === 0 ? ANY_TYPE : this.types()
  }

  writeText(row: number, out: ColumnBytes): void {
    if (this.isPresent[row] === 0) out.ascii('null')
    else this.write(row, out)
  }

  clear(): void {
    this.rows = 0
    this.present = 0
    this.kinds = 0
    this.data.clear()
  }
}

class StagedBooleans extends Staged {
  readonly #values: Uint8Array

  constructor(profile: ColumnProfile, maxRows: number) {
    super(profile, maxRows, 'boolean')
    this.#values = new Uint8Array(maxRows)
  }

  protected take(bytes: Buffer, start: number, _length: number, row: number): number {
    this.#values[row] = bytes[start] === 1 ? 1 : 0
    return KIND.boolean
  }

  protected override encoded(): Uint8Array {
    if (this.present === this.rows) return packBits(this.#values, this.rows)
    return packBits(
      this.#values.subarray(0, this.rows).filter((_, row) => this.isPresent[row] === 1),
      this.present,
    )
  }

  protected write(row: number, out: ColumnBytes): void {
    out.ascii(this.#values[row] === 1 ? 'true' : 'false')
  }

  protected types(): number {
    return TYPE.boolean | TYPE.json
  }
}

class StagedIntegers extends Staged {
  /** The two halves of each value. */
  readonly #high: Int32Array
  readonly #low: Int32Array

  constructor(profile: ColumnProfile, maxRows: number) {
    super(profile, maxRows, 'integer')
    this.#high = new Int32Array(maxRows)
    this.#low = new Int32Array(maxRows)
  }

  protected take(bytes: Buffer, start: number, length: number, row: number): number {
    const low = length === 2 ? bytes.readInt16BE(start) : bytes.readInt32BE(start + length - 4)
    const high = length === 8 ? bytes.readInt32BE(start) : low >> 31
    this.#high[row] = high
    this.#low[row] = low
    this.data.int64Halves(high, low)
    return isSafe(high, low) ? KIND.integer : kindOfValue(this.#large(row))
  }

  protected write(row: number, out: ColumnBytes): void {
    const [high, low] = [this.#high[row]!, this.#low[row]!]
    if (high === low >> 31) out.integer(low)
    else if (isSafe(high, low)) out.ascii(String(high * 0x1_0000_0000 + (low >>> 0)))
    else out.ascii(String(this.#large(row)))
  }

  protected types(): number {
    return TYPE.integer
  }

  #large(row: number): bigint {
    return (BigInt(this.#high[row]!) << 32n) | BigInt(this.#low[row]! >>> 0)
  }
}

class StagedDoubles extends Staged {
  readonly #values: Float64Array

  constructor(profile: ColumnProfile, maxRows: number) {
    super(profile, maxRows, 'number')
    this.#values = new Float64Array(maxRows)
  }

  protected take(bytes: Buffer, start: number, _length: number, row: number): number {
    const value = bytes.readDoubleBE(start)
    if (!Number.isFinite(value)) {
      this.profile.notFinite++
      return 0
    }
    this.#values[row] = value
    this.data.double(value)
    return Number.isSafeInteger(value) ? KIND.integer : KIND.number
  }

  protected write(row: number, out: ColumnBytes): void {
    out.jsonNumber(this.#values[row]!)
  }

  protected types(): number {
    return TYPE.number
  }
}

class StagedStrings extends Staged {
  readonly #starts: Uint32Array
  readonly #kind: 'text' | 'date' | 'timestamp'

  constructor(profile: ColumnProfile, maxRows: number, kind: 'text' | 'date' | 'timestamp') {
    super(profile, maxRows, 'text')
    this.#starts = new Uint32Array(maxRows)
    this.#kind = kind
  }

  protected take(bytes: Buffer, start: number, length: number, row: number): number {
    this.#starts[row] = this.data.length + 4
    if (this.#kind === 'text') {
      if (isText(bytes, start, start + length)) this.data.piece(bytes, start, start + length, false)
      else this.data.text(bytes.toString('utf8', start, start + length))
      return KIND.text
    }
    if (this.#kind === 'timestamp')
      return this.#takeTime(bytes.readInt32BE(start), bytes.readUInt32BE(start + 4))
    const text = dateText(bytes.readInt32BE(start))
    this.data.text(text)
    return isDay(text) ? KIND.date : KIND.text
  }

  /** Joining the pieces to a string first takes three times as long. */
  #takeTime(high: number, low: number): number {
    const pieces = timePieces(high, low)
    if (pieces === null) {
      this.data.text(timestampText(high, low))
      return KIND.text
    }
    const text = this.data.beginText()
    this.data.ascii(pieces.day)
    this.data.ascii(pieces.minute)
    this.data.ascii(pieces.second)
    this.data.fraction(pieces.microseconds, 6)
    this.data.ascii('Z')
    this.data.endText(text)
    return isDay(pieces.day) ? KIND.timestamp : KIND.text
  }

  protected write(row: number, out: ColumnBytes): void {
    const start = this.#starts[row]!
    out.jsonRange(this.data.buffer, start, this.data.end(start))
  }

  protected types(): number {
    if (areTimestamps(this.kinds)) return TYPE.timestamp
    return areDates(this.kinds) ? TYPE.date | TYPE.text | TYPE.json : TYPE.text | TYPE.json
  }
}

/** Decimals, whose type depends on the values, and JSON. */
class StagedValues implements StagedField {
  readonly profile: ColumnProfile
  readonly #column: StagedColumn
  readonly #decode: (bytes: Buffer, start: number, end: number) => Value
  #values: Value[] = []

  constructor(profile: ColumnProfile, kind: 'decimal' | 'json') {
    this.profile = profile
    this.#column = new StagedColumn(profile)
    this.#decode = DECODERS[kind]
  }

  add(bytes: Buffer, start: number, length: number): void {
    this.#values.push(length < 0 ? null : this.#decode(bytes, start, start + length))
  }

  encode(): PlainColumn | null {
    return this.#column.encode(this.#values, this.#values.length)
  }

  textTypes(): number {
    return this.#column.textTypes()
  }

  writeText(row: number, out: ColumnBytes): void {
    this.#column.writeText(this.#values[row], out)
  }

  clear(): void {
    this.#values = []
  }
}

/** Other texts, such as `infinity` or years before 1, have no hyphens at these places, or another length. */
function isDay(text: string): boolean {
  return text.length === 10 && text[4] === '-' && text[7] === '-'
}

/** Whether a double holds the integer of these halves, and no other one. */
function isSafe(high: number, low: number): boolean {
  return high >= -0x20_0000 && high < 0x20_0000 && !(high === -0x20_0000 && low === 0)
}

/** A database sends valid UTF-8; other programs may write such a file too. */
function isText(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > 127) return isUtf8(bytes.subarray(start, end))
  return true
}

function packBits(values: Uint8Array, count: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(count / 8))
  for (let i = 0; i < count; i++) if (values[i] === 1) bits[i >> 3]! |= 1 << (i & 7)
  return bits
}
