import { BoundedCache } from '@wayleave/geodata/base'
import type { Codes, CompiledColumn, Snapshot } from '@wayleave/geodata/features'
import type { TimedWork } from '../work/timed-work.ts'

/** The memory of everything that is decoded, in bytes. */
const MAX_BYTES = 256 << 20
/** A dictionary with fewer values stays in the processor's cache. */
const MIN_VALUES = 8192
/** Positions that are decoded without a pause: about a millisecond. */
const STEP = 1 << 14

/** What is decoded for snapshots, which queries share. */
export class DecodedCache {
  readonly #arrays = new BoundedCache<string, Float64Array | Uint16Array>(
    MAX_BYTES,
    ({ byteLength }, key) => byteLength + key.length * 2,
  )

  of(snapshot: Snapshot): DecodedColumns {
    return new DecodedColumns(this.#arrays, snapshot.folder)
  }
}

/**
 * Values by position instead of by code, for columns with many different values: looking them up in a dictionary of a
 * million values takes ten times as long as reading them in the order of positions.
 */
export class DecodedColumns {
  readonly #cache: BoundedCache<string, Float64Array | Uint16Array>
  readonly #folder: string
  readonly #numbers = new Map<CompiledColumn, Float64Array>()

  constructor(cache: BoundedCache<string, Float64Array | Uint16Array>, folder: string) {
    this.#cache = cache
    this.#folder = folder
  }

  /** The numbers of all positions, NaN for null; undefined if they are not decoded. */
  numbersOf(column: CompiledColumn): Float64Array | undefined {
    return this.#numbers.get(column)
  }

  /** Decodes the numbers of a column if that makes reading them faster. */
  async loadNumbers(column: CompiledColumn, work: TimedWork): Promise<void> {
    const { values, codes, name } = column
    if (!(values instanceof Float64Array) || values.length < MIN_VALUES) return
    const key = `${this.#folder}\n${name}`
    let numbers = this.#cache.get(key) as Float64Array | undefined
    if (numbers === undefined) {
      const decoded = new Float64Array(codes.length)
      await eachStep(codes, work, (from, to) => decodeNumbers(values, codes, from, to, decoded))
      this.#cache.set(key, decoded)
      numbers = decoded
    }
    this.#numbers.set(column, numbers)
  }

  /** The groups of all positions; null if looking them up by code is as fast. `name` distinguishes the groups. */
  async groups(
    column: CompiledColumn,
    name: string,
    groupOf: Uint32Array,
    groupCount: number,
    work: TimedWork,
  ): Promise<Uint16Array | null> {
    if (groupOf.length < MIN_VALUES || groupCount > 65_536) return null
    const { codes } = column
    const key = `${this.#folder}\n${column.name}\n${name}`
    const cached = this.#cache.get(key) as Uint16Array | undefined
    if (cached) return cached
    const groups = new Uint16Array(codes.length)
    await eachStep(codes, work, (from, to) => decodeGroups(groupOf, codes, from, to, groups))
    this.#cache.set(key, groups)
    return groups
  }
}

async function eachStep(
  { length }: Codes,
  work: TimedWork,
  step: (from: number, to: number) => void,
): Promise<void> {
  await work.each(Math.ceil(length / STEP), (i) => step(i * STEP, Math.min(length, (i + 1) * STEP)))
  work.check()
}

// Codes of so many values have 16 or 32 bits.

function decodeNumbers(
  values: Float64Array,
  codes: Codes,
  from: number,
  to: number,
  decoded: Float64Array,
): void {
  for (let i = from; i < to; i++) decoded[i] = codes[i] === 0 ? Number.NaN : values[codes[i]! - 1]!
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
