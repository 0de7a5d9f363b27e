import { BLOCK_ROWS, type Codes, type CompiledColumn } from '@wayleave/geodata/features'
import type { DecodedColumns } from './decoded-columns.ts'

/**
 * Some positions that match, with what measures need to know of them. It is used again for the next positions. Loops of
 * measures and dimensions only get the arrays that are copied here, so that there is one loop for all widths of codes.
 */
export class Block {
  length = 0
  positions: Uint32Array = new Uint32Array(BLOCK_ROWS)
  /** The group of each position. */
  groups: Uint32Array = new Uint32Array(BLOCK_ROWS)
  /** Whether the positions are consecutive. */
  #isRun = false
  readonly #decoded: DecodedColumns
  readonly #codes = new Copies<Uint32Array>(() => new Uint32Array(BLOCK_ROWS))
  readonly #numbers = new Copies<Float64Array>(() => new Float64Array(BLOCK_ROWS))

  constructor(decoded: DecodedColumns) {
    this.#decoded = decoded
  }

  /** Begins with the first `length` of these positions. */
  begin(positions: Uint32Array, length: number): void {
    this.positions = positions
    this.length = length
    // Positions ascend.
    this.#isRun = length > 0 && positions[length - 1]! - positions[0]! === length - 1
    this.#codes.forget()
    this.#numbers.forget()
  }

  /** The codes of the positions. */
  codesOf(column: CompiledColumn): Uint32Array {
    const { codes } = column
    if (this.#isRun && codes instanceof Uint32Array) return codes.subarray(...this.#bounds())
    return this.#codes.of(column, (copy) => gather(column.codes, this.positions, this.length, copy))
  }

  /** The numbers of the positions; NaN if they have none. The column's values are doubles. */
  numbersOf(column: CompiledColumn): Float64Array {
    const numbers = this.#isRun && this.#decoded.numbersOf(column)
    if (numbers) return numbers.subarray(...this.#bounds())
    return this.#numbers.of(column, (copy) => this.#copyNumbers(column, copy))
  }

  #bounds(): [begin: number, end: number] {
    return [this.positions[0]!, this.positions[0]! + this.length]
  }

  #copyNumbers(column: CompiledColumn, copy: Float64Array): void {
    const numbers = this.#decoded.numbersOf(column)
    if (numbers) gatherNumbers(numbers, this.positions, this.length, copy)
    else lookUp(column.values as Float64Array, this.codesOf(column), this.length, copy)
  }
}

/** One copy for all dimensions and measures of a column. */
class Copies<T> {
  readonly #make: () => T
  readonly #copies = new Map<CompiledColumn, { copy: T; isFilled: boolean }>()

  constructor(make: () => T) {
    this.#make = make
  }

  of(column: CompiledColumn, fill: (copy: T) => void): T {
    let entry = this.#copies.get(column)
    if (entry === undefined) {
      entry = { copy: this.#make(), isFilled: false }
      this.#copies.set(column, entry)
    }
    if (!entry.isFilled) fill(entry.copy)
    entry.isFilled = true
    return entry.copy
  }

  forget(): void {
    for (const entry of this.#copies.values()) entry.isFilled = false
  }
}

/** Copies `codes[positions[i]]`. */
export function gather(codes: Codes, positions: Uint32Array, length: number, copy: Uint32Array): void {
  if (codes instanceof Uint8Array) gather8(codes, positions, length, copy)
  else if (codes instanceof Uint16Array) gather16(codes, positions, length, copy)
  else gather32(codes, positions, length, copy)
}

// Three loops, because one loop that gets arrays of three widths takes three to five times as long.

function gather8(codes: Uint8Array, positions: Uint32Array, length: number, copy: Uint32Array): void {
  for (let i = 0; i < length; i++) copy[i] = codes[positions[i]!]!
}

function gather16(codes: Uint16Array, positions: Uint32Array, length: number, copy: Uint32Array): void {
  for (let i = 0; i < length; i++) copy[i] = codes[positions[i]!]!
}

function gather32(codes: Uint32Array, positions: Uint32Array, length: number, copy: Uint32Array): void {
  for (let i = 0; i < length; i++) copy[i] = codes[positions[i]!]!
}

function gatherNumbers(
  numbers: Float64Array,
  positions: Uint32Array,
  length: number,
  copy: Float64Array,
): void {
  for (let i = 0; i < length; i++) copy[i] = numbers[positions[i]!]!
}

function lookUp(values: Float64Array, codes: Uint32Array, length: number, copy: Float64Array): void {
  for (let i = 0; i < length; i++) copy[i] = codes[i] === 0 ? Number.NaN : values[codes[i]! - 1]!
}
