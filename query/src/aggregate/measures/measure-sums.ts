import type { CompiledColumn } from '@wayleave/geodata/features'
import type { Block } from '../columns/block.ts'
import type { DecodedColumns } from '../columns/decoded-columns.ts'
import { joinParts } from '../columns/integer-parts.ts'
import { finite, type GroupAccount } from './group-measure.ts'

/** Sums of integers, exact for any size. `counts` has the number of values of each group. */
class IntegerSums implements GroupAccount {
  readonly counts: Uint32Array
  readonly #column: CompiledColumn
  /** The values by code in parts; null if the sum needs none. */
  readonly #parts: readonly Float64Array[] | null
  readonly #sums: Float64Array[]

  constructor(column: CompiledColumn, parts: readonly Float64Array[] | null, counts: Uint32Array) {
    this.#column = column
    this.#parts = parts
    this.#sums = Array.from({ length: parts?.length ?? 1 }, () => new Float64Array(counts.length))
    this.counts = counts
  }

  add(block: Block): void {
    const { groups, length } = block
    if (this.#parts === null) {
      addNumbers(block.numbersOf(this.#column), groups, length, this.#sums[0]!)
      return
    }
    const codes = block.codesOf(this.#column)
    for (let part = 0; part < this.#parts.length; part++)
      addParts(this.#parts[part]!, codes, groups, length, this.#sums[part]!)
  }

  merge(group: number, into: number): void {
    for (const sums of this.#sums) sums[into]! += sums[group]!
  }

  sum(group: number): number | bigint {
    return this.#parts === null ? this.#sums[0]![group]! : joinParts(this.#sums, group)
  }
}

// Nulls are zeros: a loop without a branch takes half as long.

function addNumbers(numbers: Float64Array, groups: Uint32Array, length: number, sums: Float64Array): void {
  for (let i = 0; i < length; i++) sums[groups[i]!]! += numbers[i]!
}

function addParts(
  parts: Float64Array,
  codes: Uint32Array,
  groups: Uint32Array,
  length: number,
  sums: Float64Array,
): void {
  for (let i = 0; i < length; i++) sums[groups[i]!]! += parts[codes[i]!]!
}

/** Sums of doubles with the errors of the additions (Knuth), as exact as if they had twice as many bits. */
export class CompensatedSums {
  readonly #sums: Float64Array
  readonly #errors: Float64Array

  constructor(capacity: number) {
    this.#sums = new Float64Array(capacity)
    this.#errors = new Float64Array(capacity)
  }

  add(numbers: Float64Array, scale: number, groups: Uint32Array, length: number): void {
    const sums = this.#sums
    const errors = this.#errors
    for (let i = 0; i < length; i++) {
      const number = numbers[i]! * scale
      const group = groups[i]!
      const sum = sums[group]!
      const next = sum + number
      const added = next - sum
      errors[group]! += sum - (next - added) + (number - added)
      sums[group] = next
    }
  }

  merge(group: number, into: number): void {
    this.add(this.#sums.subarray(group, group + 1), 1, Uint32Array.of(into), 1)
    this.#errors[into]! += this.#errors[group]!
  }

  sum(group: number): number {
    return this.#sums[group]! + this.#errors[group]!
  }
}

/** Numbers above this are scaled, so that the sum of all of a dataset is a finite number. */
const MAX_UNSCALED = 2 ** 960
const SCALE = 2 ** -64

class NumberSums implements GroupAccount {
  readonly counts: Uint32Array
  readonly #column: CompiledColumn
  readonly #scale: number
  readonly #sums: CompensatedSums

  constructor(column: CompiledColumn, counts: Uint32Array) {
    this.#column = column
    this.#scale = largest(column.values as Float64Array) > MAX_UNSCALED ? SCALE : 1
    this.#sums = new CompensatedSums(counts.length)
    this.counts = counts
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

  mean(group: number): number {
    return this.#sums.sum(group) / this.counts[group]! / this.#scale
  }
}

/** Sums of decimals, exact as those of integers and rounded once. */
class DecimalSums implements GroupAccount {
  readonly counts: Uint32Array
  readonly #sums: IntegerSums
  readonly #decimals: number

  constructor(sums: IntegerSums, decimals: number) {
    this.counts = sums.counts
    this.#sums = sums
    this.#decimals = decimals
  }

  add(block: Block): void {
    this.#sums.add(block)
  }

  merge(group: number, into: number): void {
    this.#sums.merge(group, into)
  }

  sum(group: number): number {
    const sum = this.#sums.sum(group)
    return typeof sum === 'number' ? sum / 10 ** this.#decimals : Number(`${sum}e-${this.#decimals}`)
  }

  mean(group: number): number {
    return Number(this.#sums.sum(group)) / (this.counts[group]! * 10 ** this.#decimals)
  }
}

export type ColumnSums = IntegerSums | DecimalSums | NumberSums

/** `counts` has the number of values of each group. */
export function columnSums(column: CompiledColumn, decoded: DecodedColumns, counts: Uint32Array): ColumnSums {
  if (column.type === 'integer') return new IntegerSums(column, decoded.partsOf(column), counts)
  const scaled = decoded.scaledOf(column)
  if (scaled === null) return new NumberSums(column, counts)
  const integers = new IntegerSums(scaled.column, decoded.partsOf(scaled.column), counts)
  return new DecimalSums(integers, scaled.decimals)
}

/** The largest absolute value of a dictionary. */
function largest(values: Float64Array): number {
  return values.length === 0 ? 0 : Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!))
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
  return finite(sums instanceof IntegerSums ? Number(sums.sum(group)) / count : sums.mean(group))
}
