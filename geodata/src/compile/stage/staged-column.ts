import type { SourceColumn, Value } from '../../feature.ts'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { ANY_TYPE, dateText, TYPE, utcText } from '../../pack/value-text.ts'
import type { PlainColumn, PlainType } from '../plain-parquet.ts'
import { countNotFinite, jsonText } from '../values/json-text.ts'
import type { Notation } from '../values/notation.ts'
import {
  areDates,
  areIntegers,
  areNumbers,
  areStrings,
  areTimestamps,
  KIND,
  kindOfText,
  kindOfValue,
} from '../values/value-kinds.ts'

/**
 * The form in which a chunk's values of one column were staged. Each form is a separate column in the staged
 * files, so that chunks with different kinds of values never force each other's values through a lossy type.
 */
export type StagedAs = 'boolean' | 'integer' | 'number' | 'text' | 'json'

const PLAIN_TYPE: { [as in StagedAs]: PlainType } = {
  boolean: 'boolean',
  integer: 'int64',
  number: 'double',
  text: 'text',
  json: 'text',
}

/** Statistics of one column over all chunks of one stage. It is plain data, so that a worker can post it. */
export interface ColumnProfile {
  name: string
  /** The name in the staged files, without the suffix such as `:integer`. */
  staged: string
  declared: SourceColumn['type']
  /** See SourceColumn. */
  number: number | undefined
  kinds: number
  present: number
  /** How many of those are empty strings in a source of strings: missing unless the column is text. */
  blank: number
  stagedAs: StagedAs[]
  /** Non-finite numbers, also nested ones, which JSON cannot represent: they are published as null. */
  notFinite: number
  /** Where the column first occurred: the source row, then the position in that row. */
  firstRow: number
  firstPlace: number
  /** How the texts spell numbers or dates, if not as in JSON; set once all rows have been seen. */
  notation?: Notation
}

export class StagedColumn {
  readonly profile: ColumnProfile
  // Small at first, because a file may have thousands of columns.
  readonly #bytes = new ColumnBytes(1 << 12)
  #chunkKinds = 0
  /** Whether it is a number column as far as known, so that integers are formatted as numbers too. */
  #isNumber = false

  constructor(profile: ColumnProfile) {
    this.profile = profile
  }

  /**
   * The column types for which `writeText` is correct in the most recently encoded chunk. The type itself is
   * only known when all rows have been read.
   */
  textTypes(): number {
    const kinds = this.#chunkKinds
    // In a source of strings, whether an empty string is a missing value depends on the column's final type.
    if (this.profile.declared === 'infer-text') return 0
    if (kinds === 0) return ANY_TYPE
    if (kinds & KIND.nested) return TYPE.json
    if (kinds === KIND.boolean) return TYPE.boolean | TYPE.json
    if (this.#isNumber) return TYPE.number
    if (areIntegers(kinds)) return TYPE.integer
    if (areTimestamps(kinds)) return TYPE.timestamp
    if (areDates(kinds)) return kinds & KIND.slashed ? TYPE.date : TYPE.date | TYPE.text | TYPE.json
    return areStrings(kinds) ? TYPE.text | TYPE.json : 0
  }

  /** Writes a value of the most recently encoded chunk as JSON, as in a feature. */
  writeText(value: Value | undefined, out: ColumnBytes): void {
    if (!isPresent(value)) out.ascii('null')
    else if (this.#chunkKinds & KIND.nested) out.unicode(jsonText(value!))
    else if (typeof value === 'string') out.jsonString(this.#timeText(value))
    else if (typeof value !== 'boolean' && this.#isNumber) out.jsonNumber(Number(value))
    else if (typeof value === 'number') out.integer(value)
    else out.ascii(String(value))
  }

  #timeText(value: string): string {
    if (areTimestamps(this.#chunkKinds)) return utcText(value)
    return areDates(this.#chunkKinds) ? dateText(value) : value
  }

  /** Encodes this column of a chunk; null if the chunk has no value in it. */
  encode(values: (Value | undefined)[], rows: number): PlainColumn | null {
    const valueCount = this.#observe(values, rows)
    if (valueCount === 0) return null
    const as = this.#chooseStaging()
    if (!this.profile.stagedAs.includes(as)) this.profile.stagedAs.push(as)
    this.#bytes.clear()
    const bits = new Uint8Array(Math.ceil(rows / 8))
    for (let row = 0; row < rows; row++) {
      if (isPresent(values[row])) bits[row >> 3]! |= 1 << (row & 7)
    }
    return {
      name: `${this.profile.staged}:${as}`,
      type: PLAIN_TYPE[as],
      present: valueCount === rows ? null : bits,
      data: this.#write(values, rows, as, valueCount),
    }
  }

  #observe(values: (Value | undefined)[], rows: number): number {
    const profile = this.profile
    const asText = profile.declared === 'infer-text'
    // Once text has been seen, no string can change the column's type.
    let settled = profile.declared === 'text' || (profile.kinds & KIND.text) !== 0
    let kinds = 0
    let valueCount = 0
    for (let row = 0; row < rows; row++) {
      const value = values[row]
      if (!isPresent(value)) {
        if (typeof value === 'number') profile.notFinite++
        continue
      }
      valueCount++
      if (typeof value === 'string') {
        if (asText && value === '') profile.blank++
        const kind = settled ? KIND.text : asText ? kindOfText(value) : kindOfValue(value)
        kinds |= kind
        if (kind === KIND.text) settled = true
      } else {
        kinds |= kindOfValue(value)
        if (typeof value === 'object') profile.notFinite += countNotFinite(value)
      }
    }
    this.#chunkKinds = kinds
    profile.kinds |= kinds
    this.#isNumber =
      areNumbers(kinds) && (profile.declared === 'number' || (profile.kinds & KIND.number) !== 0)
    profile.present += valueCount
    return valueCount
  }

  #chooseStaging(): StagedAs {
    const kinds = this.#chunkKinds
    if (this.profile.declared === 'infer-text') return 'text'
    if (areStrings(kinds)) return 'text'
    if (kinds === KIND.boolean) return 'boolean'
    if ((kinds & ~(KIND.integer | KIND.bigInteger | KIND.inexact)) === 0) return 'integer'
    if (areNumbers(kinds) && kinds & KIND.number) return 'number'
    return 'json'
  }

  #write(values: (Value | undefined)[], rows: number, as: StagedAs, valueCount: number): Uint8Array {
    if (as === 'boolean') return packBooleans(values, rows, valueCount)
    const bytes = this.#bytes
    for (let row = 0; row < rows; row++) {
      const value = values[row]
      if (!isPresent(value)) continue
      if (as === 'text') bytes.text(value as string)
      else if (as === 'integer') bytes.int64(value as number | bigint)
      else if (as === 'number') bytes.double(Number(value))
      else bytes.text(jsonText(value as Value))
    }
    return bytes.bytes()
  }
}

/** JSON cannot represent a non-finite number, so it counts as null. */
function isPresent(value: Value | undefined): boolean {
  return value !== null && value !== undefined && (typeof value !== 'number' || Number.isFinite(value))
}

function packBooleans(values: (Value | undefined)[], rows: number, valueCount: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(valueCount / 8))
  let at = 0
  for (let row = 0; row < rows; row++) {
    const value = values[row]
    if (!isPresent(value)) continue
    if (value === true) bits[at >> 3]! |= 1 << (at & 7)
    at++
  }
  return bits
}
