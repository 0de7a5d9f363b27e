import type { CompiledColumn } from '@wayleave/geodata/features'
import type { Block } from '../columns/block.ts'
import type { GroupAccount } from './group-measure.ts'

/** The smallest or the largest code of each group; 0 if it has no value. Codes are in the order of values. */
export class ExtremeCodes implements GroupAccount {
  readonly codes: Uint32Array
  readonly #column: CompiledColumn
  readonly #isMax: boolean

  constructor(column: CompiledColumn, isMax: boolean, capacity: number) {
    this.#column = column
    this.#isMax = isMax
    this.codes = new Uint32Array(capacity)
  }

  add(block: Block): void {
    const codes = block.codesOf(this.#column)
    if (this.#isMax) takeLargest(codes, block.groups, block.length, this.codes)
    else takeSmallest(codes, block.groups, block.length, this.codes)
  }

  merge(group: number, into: number): void {
    const take = this.#isMax ? takeLargest : takeSmallest
    take(this.codes.subarray(group, group + 1), Uint32Array.of(into), 1, this.codes)
  }
}

function takeLargest(codes: Uint32Array, groups: Uint32Array, length: number, largest: Uint32Array): void {
  for (let i = 0; i < length; i++) if (codes[i]! > largest[groups[i]!]!) largest[groups[i]!] = codes[i]!
}

function takeSmallest(codes: Uint32Array, groups: Uint32Array, length: number, smallest: Uint32Array): void {
  for (let i = 0; i < length; i++) {
    const code = codes[i]!
    const group = groups[i]!
    if (code !== 0 && (code < smallest[group]! || smallest[group] === 0)) smallest[group] = code
  }
}

/**
 * The code of each group's feature with the smallest or the largest time, among those that have both; the first one in
 * the dataset's order if times are equal.
 */
export class CodesByTime implements GroupAccount {
  readonly codes: Uint32Array
  readonly #times: Uint32Array
  readonly #positions: Uint32Array
  readonly #column: CompiledColumn
  readonly #time: CompiledColumn
  readonly #isLast: boolean

  constructor(column: CompiledColumn, time: CompiledColumn, isLast: boolean, capacity: number) {
    this.#column = column
    this.#time = time
    this.#isLast = isLast
    this.codes = new Uint32Array(capacity)
    this.#times = new Uint32Array(capacity)
    this.#positions = new Uint32Array(capacity)
  }

  add(block: Block): void {
    const codes = block.codesOf(this.#column)
    const times = block.codesOf(this.#time)
    const { positions, groups, length } = block
    for (let i = 0; i < length; i++) {
      const group = groups[i]!
      const time = times[i]!
      const best = this.#times[group]!
      if (time === 0 || codes[i] === 0) continue
      if (best !== 0 && (this.#isLast ? time <= best : time >= best)) continue
      this.#times[group] = time
      this.#positions[group] = positions[i]!
      this.codes[group] = codes[i]!
    }
  }

  merge(group: number, into: number): void {
    const [time, best] = [this.#times[group]!, this.#times[into]!]
    if (time === 0) return
    const isEarlierFeature = this.#positions[group]! < this.#positions[into]!
    const isBetter = time === best ? isEarlierFeature : time > best === this.#isLast
    if (best !== 0 && !isBetter) return
    this.#times[into] = time
    this.#positions[into] = this.#positions[group]!
    this.codes[into] = this.codes[group]!
  }
}

/** Squares of numbers between these are neither infinite nor zero. */
const MAX_SQUARED = 1e150
const MIN_SQUARED = 1e-140

/** Means and squared deviations, updated by every value (Welford), which is exact also for numbers far from zero. */
export class Deviations implements GroupAccount {
  readonly #column: CompiledColumn
  readonly #scale: number
  readonly #counts: Float64Array
  readonly #means: Float64Array
  readonly #squares: Float64Array

  constructor(column: CompiledColumn, capacity: number) {
    const { values } = column
    this.#column = column
    this.#scale = scaleOf(Number(values[0] ?? 0), Number(values.at(-1) ?? 0))
    this.#counts = new Float64Array(capacity)
    this.#means = new Float64Array(capacity)
    this.#squares = new Float64Array(capacity)
  }

  add(block: Block): void {
    const { groups, length } = block
    const numbers = block.numbersOf(this.#column)
    const codes = this.#column.nulls === 0 ? null : block.codesOf(this.#column)
    const scale = this.#scale
    const counts = this.#counts
    const means = this.#means
    const squares = this.#squares
    for (let i = 0; i < length; i++) {
      if (codes !== null && codes[i] === 0) continue
      const value = numbers[i]! * scale
      const group = groups[i]!
      const distance = value - means[group]!
      const mean = means[group]! + distance / ++counts[group]!
      squares[group]! += distance * (value - mean)
      means[group] = mean
    }
  }

  /** By Chan, Golub and LeVeque. */
  merge(group: number, into: number): void {
    const [own, other] = [this.#counts[into]!, this.#counts[group]!]
    if (other === 0) return
    const distance = this.#means[group]! - this.#means[into]!
    const count = own + other
    this.#squares[into]! += this.#squares[group]! + distance * distance * ((own * other) / count)
    this.#means[into]! += distance * (other / count)
    this.#counts[into] = count
  }

  /** The standard deviation of a sample; null for less than two values. */
  deviation(group: number): number | null {
    const count = this.#counts[group]!
    return count < 2 ? null : Math.sqrt(this.#squares[group]! / (count - 1)) / this.#scale
  }
}

function scaleOf(smallest: number, greatest: number): number {
  const largest = Math.max(Math.abs(smallest), Math.abs(greatest))
  if (largest > MAX_SQUARED) return 2 ** -600
  return largest > 0 && largest < MIN_SQUARED ? 2 ** 600 : 1
}
