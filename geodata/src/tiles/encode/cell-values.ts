import { inSharedMemory, sharedDoubles } from '../../bytes/shared-memory.ts'
import { dateText, timestampText } from '../../calendar.ts'
import type { Codes, CompiledColumn } from '../../columns/compiled-column.ts'
import type { ColumnType } from '../../feature.ts'

/** A text column with more different values is not summed up: its dictionary would be copied for threads. */
export const MAX_CELL_TEXTS = 100_000

/** A column whose values are summed up for cells. Its arrays are in memory that all threads share. */
export interface TileColumn {
  name: string
  type: ColumnType
  /** By position: 0 is null, code c is the c-th distinct value, ascending. */
  codes: Codes
  /** By code - 1; null for texts. Days and microseconds for dates and times. */
  numbers: Float64Array | null
  /** The texts one after the other in UTF-8, and where each ends; null for other types. */
  texts: { bytes: Uint8Array; ends: Uint32Array } | null
}

const shared = new WeakMap<CompiledColumn, TileColumn | null>()

/**
 * The column in shared memory; null if its values cannot be summed up. What the cache holds in shared memory already is
 * not copied: the codes of a large column are most of it.
 */
export function tileColumnOf(column: CompiledColumn): TileColumn | null {
  let made = shared.get(column)
  if (made === undefined) {
    made = makeTileColumn(column)
    shared.set(column, made)
  }
  return made
}

function makeTileColumn({ name, type, codes, values }: CompiledColumn): TileColumn | null {
  if (!Array.isArray(values)) {
    const numbers = numbersOf(values as Float64Array | BigInt64Array)
    return { name, type, texts: null, ...inSharedMemory({ codes, numbers }) }
  }
  if (type !== 'text' || values.length > MAX_CELL_TEXTS) return null
  const bytes = Buffer.from(values.join(''), 'utf8')
  const ends = new Uint32Array(values.length)
  let end = 0
  for (let i = 0; i < values.length; i++) ends[i] = end += Buffer.byteLength(values[i]!)
  return { name, type, numbers: null, ...inSharedMemory({ codes }), texts: inSharedMemory({ bytes, ends }) }
}

function numbersOf(values: Float64Array | BigInt64Array): Float64Array {
  if (values instanceof Float64Array) return values
  const numbers = sharedDoubles(values.length)
  for (let i = 0; i < values.length; i++) numbers[i] = Number(values[i])
  return numbers
}

/** What a cell tells of a column, in the order of `cellPropertiesOf`; null is left out. */
export type CellSummary = readonly (string | number | boolean | null)[]

/** The properties that a cell has for a column: names, and the types that they have in tiles. */
export function cellPropertiesOf({ name, type }: { name: string; type: ColumnType }) {
  const value = (what: string, valueType: ColumnType) => ({ name: `${name}:${what}`, type: valueType })
  const frequent = [value('top', type), value('share', 'number')]
  const isNumber = type === 'number' || type === 'integer'
  if (isNumber) return [...frequent, value('mean', 'number'), value('min', type), value('max', type)]
  const isTime = type === 'date' || type === 'timestamp'
  return isTime ? [...frequent, value('min', type), value('max', type)] : frequent
}

/** Sums up the values of a column over the members of cells. */
export class CellValues {
  readonly #column: TileColumn
  /** By code, zero between cells. */
  readonly #counts: Uint32Array

  constructor(column: TileColumn) {
    this.#column = column
    this.#counts = new Uint32Array(1 + (column.numbers?.length ?? column.texts!.ends.length))
  }

  /**
   * The most frequent value of `positions` (the lowest of several) with its share of all of them, and of numbers the
   * mean, the smallest and the largest. Nothing is told of a cell without values.
   */
  summarize(positions: ArrayLike<number>): CellSummary {
    const { codes, numbers, type } = this.#column
    const counts = this.#counts
    let [top, min, max, sum, valued] = [0, Infinity, 0, 0, 0]
    for (let i = 0; i < positions.length; i++) {
      const code = codes[positions[i]!]!
      if (code === 0) continue
      valued++
      const count = ++counts[code]!
      if (count > counts[top]! || (count === counts[top]! && code < top)) top = code
      if (code < min) min = code
      if (code > max) max = code
      if (numbers) sum += numbers[code - 1]!
    }
    for (let i = 0; i < positions.length; i++) counts[codes[positions[i]!]!] = 0
    if (valued === 0) return []
    const share = Math.round((1000 * this.#countOf(top, positions)) / positions.length) / 1000
    const frequent = [this.#value(top), share]
    if (type === 'number' || type === 'integer')
      return [...frequent, Math.fround(sum / valued), this.#value(min), this.#value(max)]
    const isTime = type === 'date' || type === 'timestamp'
    return isTime ? [...frequent, this.#value(min), this.#value(max)] : frequent
  }

  #countOf(code: number, positions: ArrayLike<number>): number {
    const { codes } = this.#column
    let count = 0
    for (let i = 0; i < positions.length; i++) count += Number(codes[positions[i]!] === code)
    return count
  }

  #value(code: number): string | number | boolean {
    const { type, numbers, texts } = this.#column
    if (texts) {
      const { bytes, ends } = texts
      return Buffer.from(bytes.slice(code === 1 ? 0 : ends[code - 2]!, ends[code - 1]!)).toString('utf8')
    }
    const number = numbers![code - 1]!
    switch (type) {
      case 'boolean':
        return number === 1
      case 'date':
        return dateText(number)
      case 'timestamp':
        return timestampText(BigInt(number))
      case 'integer':
      case 'number':
        return number
      case 'text':
      case 'json':
        throw new Error(`The column has numbers of the type ${type}.`)
    }
  }
}
