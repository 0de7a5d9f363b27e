import { assertNever } from '../../assert-never.ts'
import { doubled } from '../../bytes/doubled.ts'
import { GrowingBytes, varintLength } from '../../bytes/growing-bytes.ts'
import { parseNumber } from '../../exports/geometry/geometry-bytes.ts'
import type { ColumnType } from '../../feature.ts'

const VALUES_TAG = 0x22
const STRING_TAG = 0x0a
const FLOAT_TAG = 0x15
const DOUBLE_TAG = 0x19
const INTEGER_TAG = 0x20
const UNSIGNED_TAG = 0x28
const SIGNED_TAG = 0x30
const BOOLEAN_TAG = 0x38

const TRUE = 0x74
const FIRST_SLOTS = 64
const INT64 = 2n ** 63n
/** The zigzag form of smaller integers has more than 53 bits, of which a double loses the last: the sign. */
const MIN_SIGNED = -(2 ** 52)

/** Whether an integer is a text in tiles: no integer of MVT has more than 64 bits. */
export function exceeds64Bits(value: bigint): boolean {
  return value >= INT64 || value < -INT64
}

/**
 * The values of one key of a layer, each stored once: features refer to them by number. They are looked up by the
 * JSON text in the pack, without making strings of it.
 */
export class TileValues {
  count = 0
  readonly encoded = new GrowingBytes()
  readonly #texts = new GrowingBytes()
  #starts = new Int32Array(FIRST_SLOTS)
  #hashes = new Int32Array(FIRST_SLOTS)
  #slots = new Int32Array(FIRST_SLOTS)
  #mask = FIRST_SLOTS - 1

  clear(): void {
    this.count = 0
    this.encoded.length = 0
    this.#texts.length = 0
    this.#starts[0] = 0
    // Most tiles are small: a table that a large one needed is not cleared for all that follow.
    this.#mask = FIRST_SLOTS - 1
    this.#slots.fill(0, 0, FIRST_SLOTS)
  }

  /** The number of the value whose JSON text is in `bytes`; it is not null. */
  number(bytes: Buffer, start: number, end: number, type: ColumnType, isEscaped: boolean): number {
    let hash = type.length
    for (let p = start; p < end; p++) hash = (Math.imul(hash, 31) + bytes[p]!) | 0
    hash ^= hash >>> 15
    let slot = hash & this.#mask
    for (let entry = this.#slots[slot]!; entry !== 0; entry = this.#slots[slot]!) {
      if (this.#hashes[entry - 1] === hash && this.#equals(entry - 1, bytes, start, end)) return entry - 1
      slot = (slot + 1) & this.#mask
    }
    const number = this.count++
    this.#slots[slot] = number + 1
    this.#remember(number, hash, bytes, start, end)
    this.#encode(bytes, start, end, type, isEscaped)
    if (this.count * 2 > this.#mask) this.#grow()
    return number
  }

  #equals(number: number, bytes: Buffer, start: number, end: number): boolean {
    const from = this.#starts[number]!
    if (this.#starts[number + 1]! - from !== end - start) return false
    const texts = this.#texts.buffer
    for (let p = start, q = from; p < end; p++, q++) if (bytes[p] !== texts[q]) return false
    return true
  }

  #remember(number: number, hash: number, bytes: Buffer, start: number, end: number): void {
    if (number + 2 > this.#starts.length) {
      this.#starts = doubled(this.#starts)
      this.#hashes = doubled(this.#hashes)
    }
    this.#texts.copy(bytes, start, end)
    this.#hashes[number] = hash
    this.#starts[number + 1] = this.#texts.length
  }

  #grow(): void {
    const size = (this.#mask + 1) * 4
    if (this.#slots.length < size) this.#slots = new Int32Array(size)
    else this.#slots.fill(0, 0, size)
    this.#mask = size - 1
    for (let number = 0; number < this.count; number++) {
      let slot = this.#hashes[number]! & this.#mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask
      this.#slots[slot] = number + 1
    }
  }

  #encode(bytes: Buffer, start: number, end: number, type: ColumnType, isEscaped: boolean): void {
    switch (type) {
      case 'boolean':
        this.#varintValue(BOOLEAN_TAG, bytes[start] === TRUE ? 1 : 0)
        return
      case 'integer':
        this.#integer(bytes, start, end)
        return
      case 'number':
        this.#number(parseNumber(bytes, start, end))
        return
      case 'json':
        this.#text(bytes, start, end)
        return
      case 'text':
      case 'date':
      case 'timestamp':
        if (isEscaped) this.#escapedText(bytes, start, end)
        else this.#text(bytes, start + 1, end - 1)
        return
      default:
        assertNever(type)
    }
  }

  #escapedText(bytes: Buffer, start: number, end: number): void {
    const text = Buffer.from(JSON.parse(bytes.toString('utf8', start, end)) as string)
    this.#text(text, 0, text.length)
  }

  #integer(bytes: Buffer, start: number, end: number): void {
    const value = parseNumber(bytes, start, end)
    if (Number.isSafeInteger(value) && value >= MIN_SIGNED) {
      if (value >= 0) this.#varintValue(UNSIGNED_TAG, value)
      else this.#varintValue(SIGNED_TAG, -2 * value - 1)
      return
    }
    const exact = BigInt(bytes.toString('latin1', start, end))
    if (exceeds64Bits(exact)) this.#text(bytes, start, end)
    else this.#wideInteger(BigInt.asUintN(64, exact))
  }

  #wideInteger(value: bigint): void {
    const digits: number[] = []
    let rest = value
    for (; rest > 127n; rest >>= 7n) digits.push(Number(rest & 127n) | 0x80)
    digits.push(Number(rest))
    this.#begin(1 + digits.length)
    this.encoded.byte(INTEGER_TAG)
    for (const digit of digits) this.encoded.byte(digit)
  }

  #number(value: number): void {
    const { encoded } = this
    const isShort = Math.fround(value) === value
    this.#begin(isShort ? 5 : 9)
    encoded.reserve(9)
    encoded.buffer[encoded.length++] = isShort ? FLOAT_TAG : DOUBLE_TAG
    encoded.length = isShort
      ? encoded.buffer.writeFloatLE(value, encoded.length)
      : encoded.buffer.writeDoubleLE(value, encoded.length)
  }

  #text(bytes: Buffer, start: number, end: number): void {
    const length = end - start
    this.#begin(1 + varintLength(length) + length)
    this.encoded.byte(STRING_TAG)
    this.encoded.varint(length)
    this.encoded.copy(bytes, start, end)
  }

  #varintValue(tag: number, value: number): void {
    this.#begin(1 + varintLength(value))
    this.encoded.byte(tag)
    this.encoded.varint(value)
  }

  #begin(length: number): void {
    this.encoded.byte(VALUES_TAG)
    this.encoded.varint(length)
  }
}
