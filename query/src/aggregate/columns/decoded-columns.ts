import { sharedDoubles } from '@wayleave/geodata/base'
import { type Codes, type ColumnCache, CompiledColumn, type Snapshot } from '@wayleave/geodata/features'
import type { TimedWork } from '../../work/timed-work.ts'
import { DecimalScale } from './decimal-scale.ts'
import { integerParts, needsParts } from './integer-parts.ts'

/** A dictionary with fewer values stays in the processor's cache. */
const MIN_VALUES = 8192
/** Values that are decoded without a pause: about a millisecond. */
const STEP = 1 << 14

/** A column of decimals as one of integers, times ten to the power of `decimals`. */
export interface ScaledColumn {
  column: CompiledColumn
  decimals: number
}

/**
 * The values of a snapshot's columns in forms that are faster to add. They are kept in the memory of the columns, and
 * other queries use them too.
 *
 * Numbers are kept by position instead of by code if there are many different values: looking them up in a dictionary
 * of a million values takes ten times as long as reading them in the order of positions.
 */
export class DecodedColumns {
  readonly #cache: ColumnCache
  readonly #folder: string
  readonly #numbers = new Map<CompiledColumn, Float64Array>()
  readonly #tables = new Map<CompiledColumn, Float64Array>()
  readonly #scaled = new Map<CompiledColumn, ScaledColumn>()
  readonly #parts = new Map<CompiledColumn, readonly Float64Array[]>()

  constructor(cache: ColumnCache, { folder }: Snapshot) {
    this.#cache = cache
    this.#folder = folder
  }

  /** The numbers of all positions, 0 for null; undefined if they are not decoded. */
  numbersOf(column: CompiledColumn): Float64Array | undefined {
    return this.#numbers.get(column)
  }

  /** The numbers by code, 0 for null; integers beyond 2^53 are rounded. They must have been loaded. */
  tableOf(column: CompiledColumn): Float64Array {
    return this.#tables.get(column)!
  }

  /** The integers by code, in parts whose sums are exact; null if their sum needs no parts. */
  partsOf(column: CompiledColumn): readonly Float64Array[] | null {
    return this.#parts.get(column) ?? null
  }

  /** The column as integers, if its numbers are decimals. */
  scaledOf(column: CompiledColumn): ScaledColumn | null {
    return this.#scaled.get(column) ?? null
  }

  /** Loads what the sum of a column needs. */
  async loadSummands(column: CompiledColumn, work: TimedWork): Promise<void> {
    if (column.type === 'integer') return this.#loadIntegers(column, work)
    const scaled = await this.#scale(column, work)
    if (scaled === null) return this.loadNumbers(column, work)
    this.#scaled.set(column, scaled)
    return this.#loadIntegers(scaled.column, work)
  }

  async #scale(column: CompiledColumn, work: TimedWork): Promise<ScaledColumn | null> {
    const values = column.values as Float64Array
    const { decimals, scaled } = await this.kept(`decimals\n${column.name}`, bytesOfScale, async () => {
      const made = new DecimalScale(values)
      await work.inSteps(values.length, STEP, (from, to) => made.find(from, to))
      await work.inSteps(values.length, STEP, (from, to) => made.fill(from, to))
      // Without the values themselves, which are kept with the column.
      return { decimals: made.decimals, scaled: made.scaled }
    })
    if (decimals === null || scaled === null) return null
    const parts = { ...column, codes: column.codes, values: scaled }
    return { column: new CompiledColumn(`scaled\n${column.name}`, 'integer', parts), decimals }
  }

  async #loadIntegers(column: CompiledColumn, work: TimedWork): Promise<void> {
    if (!needsParts(column)) return this.loadNumbers(column, work)
    const parts = await this.kept(`parts\n${column.name}`, bytesOfParts, () => {
      const { tables, fill } = integerParts(column)
      return work.inSteps(column.values.length, STEP, fill).then(() => tables)
    })
    this.#parts.set(column, parts)
  }

  async loadNumbers(column: CompiledColumn, work: TimedWork): Promise<void> {
    const { values, codes, name } = column
    if (values instanceof Float64Array && values.length >= MIN_VALUES) {
      const numbers = await this.kept(`numbers\n${name}`, bytesOf, async () => {
        const decoded = sharedDoubles(codes.length)
        await work.inSteps(codes.length, STEP, (from, to) => decodeNumbers(values, codes, from, to, decoded))
        return decoded
      })
      this.#numbers.set(column, numbers)
      return
    }
    const table = await this.kept(`table\n${name}`, bytesOf, async () => {
      const numbers = sharedDoubles(values.length + 1)
      await work.inSteps(values.length, STEP, (from, to) => {
        for (let i = from; i < to; i++) numbers[i + 1] = Number(values[i])
      })
      return numbers
    })
    this.#tables.set(column, table)
  }

  /** What was derived from the columns before, or what `make` returns. `bytes` is its size in memory. */
  async kept<T extends object>(
    name: string,
    bytes: (value: T) => number,
    make: () => Promise<T>,
  ): Promise<T> {
    const key = `${this.#folder}\n${name}`
    const kept = this.#cache.derived<T>(key)
    if (kept) return kept
    const value = await make()
    this.#cache.keep(key, value, bytes(value))
    return value
  }
}

/** The groups of all positions; null if looking them up by code is as fast. */
export async function groupsByPosition(
  { codes }: CompiledColumn,
  groupOf: Uint32Array,
  groupCount: number,
  work: TimedWork,
): Promise<Uint16Array | null> {
  if (groupOf.length < MIN_VALUES || groupCount > 65_536) return null
  const groups = new Uint16Array(new SharedArrayBuffer(codes.length * 2))
  await work.inSteps(codes.length, STEP, (from, to) => decodeGroups(groupOf, codes, from, to, groups))
  return groups
}

function bytesOf({ byteLength }: { byteLength: number }): number {
  return byteLength
}

function bytesOfScale({ scaled }: { scaled: Float64Array | null }): number {
  return 100 + (scaled?.byteLength ?? 0)
}

function bytesOfParts(parts: readonly Float64Array[]): number {
  return parts.reduce((all, { byteLength }) => all + byteLength, 0)
}

// Codes of so many values have 16 or 32 bits.

function decodeNumbers(
  values: Float64Array,
  codes: Codes,
  from: number,
  to: number,
  decoded: Float64Array,
): void {
  for (let i = from; i < to; i++) decoded[i] = codes[i] === 0 ? 0 : values[codes[i]! - 1]!
}

function decodeGroups(
  groupOf: Uint32Array,
  codes: Codes,
  from: number,
  to: number,
  groups: Uint16Array,
): void {
  for (let i = from; i < to; i++) groups[i] = groupOf[codes[i]!]!
}
