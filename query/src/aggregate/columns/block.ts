import { BLOCK_ROWS, type Codes, type CompiledColumn } from '@wayleave/geodata/features'
import type { DecodedColumns } from './decoded-columns.ts'

/**
 * Some positions that match, with what measures need to know of them. It is used again for the next positions. Loops of
 * measures and dimensions only get the arrays that are copied here, so that there is one loop for all widths of codes.
 */
export class Block {
  length = 0
  /** The group of each position. */
  groups: Uint32Array = new Uint32Array(BLOCK_ROWS)
  /** The first position if the positions are consecutive, otherwise -1. */
  #first = -1
  /** Null for consecutive positions that nothing has asked for. */
  #positions: Uint32Array | null = null
  readonly #run = new Uint32Array(BLOCK_ROWS)
  readonly #decoded: DecodedColumns
  readonly #codes = new Copies<Uint32Array>(() => new Uint32Array(BLOCK_ROWS))
  readonly #numbers = new Copies<Float64Array>(() => new Float64Array(BLOCK_ROWS))

  constructor(decoded: DecodedColumns) {
    this.#decoded = decoded
  }

  /** Begins with the first `length` of these positions, which ascend. */
  begin(positions: Uint32Array, length: number): void {
    const isRun = length > 0 && positions[length - 1]! - positions[0]! === length - 1
    this.#start(isRun ? positions[0]! : -1, positions, length)
  }

  beginRun(first: number, length: number): void {
    this.#start(first, null, length)
  }

  #start(first: number, positions: Uint32Array | null, length: number): void {
    this.#first = first
    this.#positions = positions
    this.length = length
    this.#codes.forget()
    this.#numbers.forget()
  }

  get positions(): Uint32Array {
    if (this.#positions) return this.#positions
    const run = this.#run
    for (let i = 0; i < this.length; i++) run[i] = this.#first + i
    this.#positions = run
    return run
  }

  /** What `codes` has for the positions: in `copy`, or in a part of `codes`. */
  gather(codes: Codes, copy: Uint32Array): Uint32Array {
    if (this.#first === -1) {
      gather(codes, this.positions, this.length, copy)
      return copy
    }
    const run = codes.subarray(this.#first, this.#first + this.length)
    if (run instanceof Uint32Array) return run
    // Ten times as fast as a loop.
    copy.set(run)
    return copy
  }

  /** The codes of the positions. */
  codesOf(column: CompiledColumn): Uint32Array {
    return this.#codes.of(column, (copy) => this.gather(column.codes, copy))
  }

  /** The numbers of the positions; 0 if they have none. They must have been loaded. */
  numbersOf(column: CompiledColumn): Float64Array {
    const numbers = this.#decoded.numbersOf(column)
    if (numbers && this.#first !== -1) return numbers.subarray(this.#first, this.#first + this.length)
    return this.#numbers.of(column, (copy) => {
      if (numbers) gatherNumbers(numbers, this.positions, this.length, copy)
      else gatherNumbers(this.#decoded.tableOf(column), this.codesOf(column), this.length, copy)
      return copy
    })
  }
}

/** One copy for all dimensions and measures of a column. */
class Copies<T> {
  readonly #make: () => T
  readonly #copies = new Map<CompiledColumn, { copy: T; filled: T | null }>()

  constructor(make: () => T) {
    this.#make = make
  }

  of(column: CompiledColumn, fill: (copy: T) => T): T {
    let entry = this.#copies.get(column)
    if (entry === undefined) {
      entry = { copy: this.#make(), filled: null }
      this.#copies.set(column, entry)
    }
    entry.filled ??= fill(entry.copy)
    return entry.filled
  }

  forget(): void {
    for (const entry of this.#copies.values()) entry.filled = null
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
  indexes: Uint32Array,
  length: number,
  copy: Float64Array,
): void {
  for (let i = 0; i < length; i++) copy[i] = numbers[indexes[i]!]!
}
