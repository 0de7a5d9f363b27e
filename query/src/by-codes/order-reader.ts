import type { CompiledColumn } from '@wayleave/geodata/features'
import { BLOCKED } from '../features/sliced-work.ts'

export type Order = NonNullable<CompiledColumn['sorted']>

const NO_POSITIONS = new Uint32Array(0)

/** Reads positions of the order of a column, one after the other. The order of a large column is read by parts. */
export class OrderReader {
  readonly #order: Order
  /** The part of the order that is read, and the index of its first position. */
  #part: Uint32Array = NO_POSITIONS
  #partStart = 0
  /** The part that has to be read. */
  #missing = -1

  constructor(order: Order) {
    this.#order = order
  }

  /** The position at this index, or BLOCKED if `loadMissing` has to be called. */
  at(index: number): number {
    const inPart = index - this.#partStart
    if (inPart >= 0 && inPart < this.#part.length) return this.#part[inPart]!
    const number = index >>> this.#order.shift
    const part = this.#order.peek(number)
    if (part === undefined) {
      this.#missing = number
      return BLOCKED
    }
    this.#part = part
    this.#partStart = index - (index & this.#order.mask)
    return part[index - this.#partStart]!
  }

  /** Reads the part that `at` was blocked by; null if it was not. */
  loadMissing(): Promise<unknown> | null {
    const missing = this.#missing
    this.#missing = -1
    return missing === -1 ? null : this.#order.load(missing)
  }
}
