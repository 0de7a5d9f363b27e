import type { ColumnType } from '../feature.ts'
import { featureValue } from './column-value.ts'
import type { DictionaryValues } from './dictionary.ts'
import { inSlices } from './in-slices.ts'

/**
 * Blocks of this many rows have their smallest and largest code, so that a search skips whole blocks. See
 * docs/decisions/compiled-columns.md.
 */
export const BLOCK_ROWS = 4096
export const BLOCK_SHIFT = 12

export type Codes = Uint8Array | Uint16Array | Uint32Array

/** A column in memory. Code 0 is null, code c is the c-th distinct value, ascending. */
export class CompiledColumn {
  readonly name: string
  readonly type: ColumnType
  readonly values: DictionaryValues
  readonly codes: Codes
  /** The rows of code c are `order[starts[c]]` to `order[starts[c + 1] - 1]`, ascending. */
  readonly starts: Uint32Array
  readonly order: Uint32Array
  readonly blockMin: Codes
  readonly blockMax: Codes

  private constructor(name: string, type: ColumnType, values: DictionaryValues, codes: Codes) {
    this.name = name
    this.type = type
    this.values = values
    this.codes = codes
    this.starts = new Uint32Array(values.length + 2)
    this.order = new Uint32Array(codes.length)
    const blocks = Math.ceil(codes.length / BLOCK_ROWS)
    this.blockMin = codes.slice(0, blocks)
    this.blockMax = codes.slice(0, blocks)
  }

  /** Makes the posting lists and the block ranges from the codes, in time slices. */
  static async from(
    name: string,
    type: ColumnType,
    values: DictionaryValues,
    codes: Codes,
  ): Promise<CompiledColumn> {
    const column = new CompiledColumn(name, type, values, codes)
    const { starts, order, blockMin, blockMax } = column
    // Always one kind of array: loops that get arrays of three widths take three to five times as long.
    const wide = codes instanceof Uint32Array ? codes : new Uint32Array(codes.length)
    if (wide !== codes) {
      await inSlices(codes.length, (from, to) => wide.set(codes.subarray(from, to), from))
    }
    // Filled by a counting sort. At first, starts[c + 1] counts the rows of code c.
    await inSlices(wide.length, (from, to) => {
      for (let row = from; row < to; row++) starts[wide[row]! + 1]!++
    })
    await inSlices(starts.length - 1, (from, to) => {
      for (let i = from; i < to; i++) starts[i + 1]! += starts[i]!
    })
    const next = starts.slice()
    await inSlices(wide.length, (from, to) => {
      for (let row = from; row < to; row++) order[next[wide[row]!]!++] = row
    })
    // A step of `inSlices` is a number of whole blocks.
    await inSlices(wide.length, (from, to) => {
      for (let start = from; start < to; start += BLOCK_ROWS) {
        const [min, max] = extremesOf(wide, start, Math.min(to, start + BLOCK_ROWS))
        blockMin[start >>> BLOCK_SHIFT] = min
        blockMax[start >>> BLOCK_SHIFT] = max
      }
    })
    return column
  }

  /** The number of codes, including that of null. */
  get codeCount(): number {
    return this.values.length + 1
  }

  get rows(): number {
    return this.codes.length
  }

  get nulls(): number {
    return this.starts[1]!
  }

  /** The number of rows whose code is at least `from` and below `to`. */
  countOf(from: number, to: number): number {
    return this.starts[to]! - this.starts[from]!
  }

  /** The value of a code as it is in a feature. */
  value(code: number): string | number | bigint | boolean | null {
    return code === 0 ? null : featureValue(this.type, this.values, code - 1)
  }
}

function extremesOf(codes: Uint32Array, from: number, to: number): [min: number, max: number] {
  let min = codes[from]!
  let max = min
  for (let row = from + 1; row < to; row++) {
    const code = codes[row]!
    if (code < min) min = code
    else if (code > max) max = code
  }
  return [min, max]
}

/** The memory of a loaded column, in bytes; texts are estimated. */
export function memoryOf(rows: number, distinct: number, width: number, dictionaryBytes: number): number {
  const codeBytes = width === 3 ? 4 : width
  return rows * (codeBytes + 4) + distinct * 4 + dictionaryBytes * 2 + distinct * 16
}
