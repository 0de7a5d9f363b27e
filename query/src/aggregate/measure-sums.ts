import type { CompiledColumn } from '@wayleave/geodata/features'
import type { Block } from './block.ts'
import { finite, type GroupAccount } from './group-measure.ts'

/** Parts of large integers have so many bits that the sum of 2^28 of them is exact in a double. */
const LIMB_BITS = 24n

/** Sums of integers, exact for any size. */
class IntegerSums implements GroupAccount {
  /** How many values were added to each group. */
  readonly counts: Uint32Array
  readonly #column: CompiledColumn
  /** The values by code in parts, lowest part first. A single part is the dictionary itself. */
  readonly #limbs: Float64Array[]
  readonly #sums: Float64Array[]

  constructor(column: CompiledColumn, capacity: number) {
    this.#column = column
    this.#limbs = limbsOf(column)
    this.#sums = this.#limbs.map(() => new Float64Array(capacity))
    this.counts = new Uint32Array(capacity)
  }

  add(block: Block): void {
    const { groups, length } = block
    if (this.#limbs.length === 1) {
      addNumbers(block.numbersOf(this.#column), groups, length, this.#sums[0]!, this.counts)
      return
    }
    const codes = block.codesOf(this.#column)
    for (let limb = 0; limb < this.#limbs.length; limb++)
      addValues(this.#limbs[limb]!, codes, groups, length, this.#sums[limb]!)
    for (let i = 0; i < length; i++) if (codes[i] !== 0) this.counts[groups[i]!]!++
  }

  merge(group: number, into: number): void {
    for (const sums of this.#sums) sums[into]! += sums[group]!
    this.counts[into]! += this.counts[group]!
  }

  sum(group: number): number | bigint {
    if (this.#sums.length === 1) return this.#sums[0]![group]!
    const sum = this.#sums.reduceRight((high, sums) => (high << LIMB_BITS) + BigInt(sums[group]!), 0n)
    return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum
  }
}

function limbsOf({ values, codes }: CompiledColumn): Float64Array[] {
  if (values instanceof Float64Array && largest(values) * codes.length <= Number.MAX_SAFE_INTEGER)
    return [values]
  const bits = values.length === 0 ? 1 : Math.max(bitsOf(values[0]!), bitsOf(values.at(-1)!))
  const count = Math.ceil((bits + 1) / Number(LIMB_BITS))
  const limbs = Array.from({ length: count }, () => new Float64Array(values.length))
  for (let i = 0; i < values.length; i++) {
    let rest = BigInt(values[i]!)
    for (let limb = 0; limb < count - 1; limb++) {
      // The lower parts are not negative; the highest one has the sign.
      limbs[limb]![i] = Number(BigInt.asUintN(Number(LIMB_BITS), rest))
      rest >>= LIMB_BITS
    }
    limbs[count - 1]![i] = Number(rest)
  }
  return limbs
}

function bitsOf(value: number | bigint | string): number {
  const integer = BigInt(value)
  return (integer < 0n ? -integer : integer).toString(2).length
}

/** The largest absolute value of a dictionary. */
function largest(values: Float64Array): number {
  return values.length === 0 ? 0 : Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!))
}

function addNumbers(
  numbers: Float64Array,
  groups: Uint32Array,
  length: number,
  sums: Float64Array,
  counts: Uint32Array,
): void {
  for (let i = 0; i < length; i++) {
    const number = numbers[i]!
    // NaN is null.
    if (Number.isNaN(number)) continue
    sums[groups[i]!]! += number
    counts[groups[i]!]!++
  }
}

function addValues(
  values: Float64Array,
  codes: Uint32Array,
  groups: Uint32Array,
  length: number,
  sums: Float64Array,
): void {
  for (let i = 0; i < length; i++) {
    const code = codes[i]!
    if (code !== 0) sums[groups[i]!]! += values[code - 1]!
  }
}

/** Sums of doubles with the errors of the additions (Neumaier), as exact as if they had twice as many bits. */
export class CompensatedSums {
  /** How many numbers were added to each group. */
  readonly counts: Uint32Array
  readonly #sums: Float64Array
  readonly #errors: Float64Array

  constructor(capacity: number) {
    this.#sums = new Float64Array(capacity)
    this.#errors = new Float64Array(capacity)
    this.counts = new Uint32Array(capacity)
  }

  /** Adds numbers to their groups; NaN is null. */
  add(numbers: Float64Array, scale: number, groups: Uint32Array, length: number): void {
    const sums = this.#sums
    const errors = this.#errors
    const { counts } = this
    for (let i = 0; i < length; i++) {
      const number = numbers[i]! * scale
      if (Number.isNaN(number)) continue
      const group = groups[i]!
      const sum = sums[group]!
      const next = sum + number
      errors[group]! += Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum
      sums[group] = next
      counts[group]!++
    }
  }

  merge(group: number, into: number): void {
    const [sum, number] = [this.#sums[into]!, this.#sums[group]!]
    const next = sum + number
    const error = Math.abs(sum) >= Math.abs(number) ? sum - next + number : number - next + sum
    this.#errors[into]! += this.#errors[group]! + error
    this.#sums[into] = next
    this.counts[into]! += this.counts[group]!
  }

  sum(group: number): number {
    return this.#sums[group]! + this.#errors[group]!
  }
}

/** Numbers above this are scaled, so that the sum of all of a dataset is a finite number. */
const MAX_UNSCALED = 2 ** 960
const SCALE = 2 ** -64

class NumberSums implements GroupAccount {
  readonly #column: CompiledColumn
  readonly #scale: number
  readonly #sums: CompensatedSums

  constructor(column: CompiledColumn, capacity: number) {
    this.#column = column
    this.#scale = largest(column.values as Float64Array) > MAX_UNSCALED ? SCALE : 1
    this.#sums = new CompensatedSums(capacity)
  }

  add(block: Block): void {
    this.#sums.add(block.numbersOf(this.#column), this.#scale, block.groups, block.length)
  }

  merge(group: number, into: number): void {
    this.#sums.merge(group, into)
  }

  sum(group: number): number {
    return this.#sums.sum(group) / this.#scale
  }

  get counts(): Uint32Array {
    return this.#sums.counts
  }

  mean(group: number): number {
    return this.#sums.sum(group) / this.counts[group]! / this.#scale
  }
}

export type ColumnSums = IntegerSums | NumberSums

export function columnSums(column: CompiledColumn, capacity: number): ColumnSums {
  return column.type === 'integer' ? new IntegerSums(column, capacity) : new NumberSums(column, capacity)
}

/** Null for a group without values. */
export function sumOf(sums: ColumnSums, group: number): number | bigint | null {
  if (sums.counts[group] === 0) return null
  const sum = sums.sum(group)
  return typeof sum === 'bigint' ? sum : finite(sum)
}

/** Null for a group without values. */
export function meanOf(sums: ColumnSums, group: number): number | null {
  const count = sums.counts[group]!
  if (count === 0) return null
  return finite(sums instanceof NumberSums ? sums.mean(group) : Number(sums.sum(group)) / count)
}
