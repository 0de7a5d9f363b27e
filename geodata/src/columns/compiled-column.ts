import type { ColumnType } from '../feature.ts'
import { IndexNumbers } from '../snapshot/index-numbers.ts'
import { type CodeBitmaps, MAX_EDGES, wordsOf } from './code-bitmaps.ts'
import { featureValue } from './column-value.ts'
import type { DictionaryValues } from './dictionary.ts'

/**
 * Blocks of this many rows have their smallest and largest code, so that a search skips whole blocks. See
 * docs/decisions/compiled-columns.md.
 */
export const BLOCK_ROWS = 4096
export const BLOCK_SHIFT = 12

export type Codes = Uint8Array | Uint16Array | Uint32Array

/** What a column consists of. Code 0 is null, code c is the c-th distinct value, ascending. */
export interface ColumnParts extends CodeBitmaps {
  values: DictionaryValues
  /** The code of each row; null if only the posting lists are loaded. */
  codes: Codes | null
  /** The rows of code c are `order[starts[c]]` to `order[starts[c + 1] - 1]`, ascending. */
  starts: Uint32Array
  /** Null until `ColumnCache.loadOrder`, if the column has many rows: most requests do not need it. */
  order: Uint32Array | null
  /** The smallest and largest code of each block. */
  blockMin: Codes
  blockMax: Codes
  /**
   * How many rows of each block have each code: of the first block by code, then of the second, and so on. Null if there
   * are more than `MAX_COUNTED_CODES`.
   */
  blockCounts: Uint16Array | null
}

/** Columns of more codes have no counts of each block: they would take longer to add than the rows. */
export const MAX_COUNTED_CODES = 256

/** A column in memory. */
export class CompiledColumn implements ColumnParts {
  readonly name: string
  readonly type: ColumnType
  readonly values: DictionaryValues
  readonly #codes: Codes | null
  readonly starts: Uint32Array
  order: Uint32Array | null
  readonly blockMin: Codes
  readonly blockMax: Codes
  readonly blockCounts: Uint16Array | null
  readonly edges: Uint32Array
  readonly below: Int32Array
  readonly #storedOrder: IndexNumbers<Uint32Array> | null
  #wholeOrder: IndexNumbers<Uint32Array> | null = null

  /** `storedOrder` is the order in the file, if it has one. */
  constructor(
    name: string,
    type: ColumnType,
    parts: ColumnParts,
    storedOrder: IndexNumbers<Uint32Array> | null = null,
  ) {
    this.name = name
    this.type = type
    this.values = parts.values
    this.#codes = parts.codes
    this.#storedOrder = storedOrder
    this.starts = parts.starts
    this.order = parts.order
    this.blockMin = parts.blockMin
    this.blockMax = parts.blockMax
    this.blockCounts = parts.blockCounts
    this.edges = parts.edges
    this.below = parts.below
  }

  /** The same column with codes, of one that was loaded without them. */
  withTables(tables: Pick<ColumnParts, 'codes' | 'blockMin' | 'blockMax' | 'blockCounts'>): CompiledColumn {
    const { values, starts, order, edges, below } = this
    return new CompiledColumn(
      this.name,
      this.type,
      { values, starts, order, edges, below, ...tables },
      this.#storedOrder,
    )
  }

  /** Whether it was loaded with its codes. */
  get hasCodes(): boolean {
    return this.#codes !== null
  }

  get codes(): Codes {
    if (this.#codes === null) throw new Error(`the codes of column ${this.name} are not loaded`)
    return this.#codes
  }

  /** Whether the order is in the file. */
  get hasStoredOrder(): boolean {
    return this.#storedOrder !== null
  }

  /** The order in memory or, by parts, in the file; null if it has to be loaded. */
  get sorted(): IndexNumbers<Uint32Array> | null {
    if (this.order === null) return this.#storedOrder
    this.#wholeOrder ??= IndexNumbers.whole(this.order, 1)
    return this.#wholeOrder
  }

  /** The number of codes, including that of null. */
  get codeCount(): number {
    return this.values.length + 1
  }

  get nulls(): number {
    return this.starts[1]!
  }

  /** The number of rows whose code is at least `from` and below `to`. */
  countOf(from: number, to: number): number {
    return this.starts[to]! - this.starts[from]!
  }

  /** The bits of the rows whose codes are below an edge. */
  rowsBelow(edge: number): Int32Array {
    const words = wordsOf(this.codes.length)
    return this.below.subarray(edge * words, (edge + 1) * words)
  }

  /** The value of a code as it is in a feature. */
  value(code: number): string | number | bigint | boolean | null {
    return code === 0 ? null : featureValue(this.type, this.values, code - 1)
  }
}

/** Columns of more rows are loaded without the sorted order and without bitmaps, which take up to 8 bytes a row. */
export const MAX_LISTED_ROWS = 4_000_000

/** The memory of a loaded column, in bytes; texts are estimated. */
export function memoryOf(rows: number, distinct: number, width: number, dictionaryBytes: number): number {
  const codeBytes = width === 3 ? 4 : width
  const bitmaps = Math.min(distinct, MAX_EDGES) * wordsOf(rows) * 4
  const lists = rows > MAX_LISTED_ROWS ? 0 : rows * 4 + bitmaps
  const blockCounts = distinct < MAX_COUNTED_CODES ? Math.ceil(rows / BLOCK_ROWS) * (distinct + 1) * 2 : 0
  return rows * codeBytes + lists + blockCounts + memoryOfLists(distinct, dictionaryBytes)
}

/** The same without its codes. */
export function memoryOfLists(distinct: number, dictionaryBytes: number): number {
  return distinct * 4 + dictionaryBytes * 2 + distinct * 16
}
