import { BLOCK_ROWS } from '@wayleave/geodata/features'
import type { RowTaker } from './row-taker.ts'

/** Collects the positions of all matches. */
export class PositionList implements RowTaker {
  #positions: Uint32Array
  #count = 0

  /** `expected` is about how many there are; growing costs copies. */
  constructor(expected: number) {
    this.#positions = new Uint32Array(Math.ceil(expected) + BLOCK_ROWS)
  }

  /** The positions in shared memory, for threads. */
  shared(): Uint32Array<SharedArrayBuffer> {
    const shared = new Uint32Array(new SharedArrayBuffer(this.#count * 4))
    shared.set(this.#positions.subarray(0, this.#count))
    return shared
  }

  takeRow(row: number): boolean {
    this.#reserve(1)
    this.#positions[this.#count++] = row
    return false
  }

  takeRun(begin: number, end: number): boolean {
    this.#reserve(end - begin)
    for (let row = begin; row < end; row++) this.#positions[this.#count++] = row
    return false
  }

  takeRows(rows: Uint32Array, count: number): boolean {
    this.#reserve(count)
    this.#positions.set(rows.subarray(0, count), this.#count)
    this.#count += count
    return false
  }

  #reserve(count: number): void {
    if (this.#count + count <= this.#positions.length) return
    const larger = new Uint32Array(Math.max(this.#positions.length * 2, this.#count + count))
    larger.set(this.#positions)
    this.#positions = larger
  }
}
