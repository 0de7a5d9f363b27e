import type { ColumnKeys } from './column-keys.ts'

/** Finds the codes of keys by a hash table over the distinct keys, in ascending order, of a column. */
export class KeyCodes {
  readonly #high: Uint32Array
  readonly #low: Uint32Array
  /** Codes, and 0 where a slot is free. */
  readonly #slots: Uint32Array

  /** `keys` are the first `distinct` of the column's distinct keys. */
  constructor({ high, low }: ColumnKeys, distinct: number) {
    this.#high = high
    this.#low = low
    // At most half full.
    const slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, distinct) * 2)))
    const mask = slots.length - 1
    for (let code = 1; code <= distinct; code++) {
      let slot = hashOf(high[code - 1]!, low[code - 1]!) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = code
    }
    this.#slots = slots
  }

  /** Writes the codes of the keys, from `at` on; 0 for nulls. Every other key must be one of the distinct ones. */
  find({ high, low, rows }: ColumnKeys, isNull: Uint8Array, codes: Uint32Array, at: number): void {
    const slots = this.#slots
    const mask = slots.length - 1
    const [ownHigh, ownLow] = [this.#high, this.#low]
    for (let i = 0; i < rows; i++) {
      if (isNull[i] === 1) {
        codes[at + i] = 0
        continue
      }
      const [h, l] = [high[i]!, low[i]!]
      let slot = hashOf(h, l) & mask
      let code = slots[slot]!
      while (code !== 0 && (ownHigh[code - 1] !== h || ownLow[code - 1] !== l)) {
        slot = (slot + 1) & mask
        code = slots[slot]!
      }
      codes[at + i] = code
    }
  }
}

function hashOf(high: number, low: number): number {
  let hash = Math.imul(high ^ 0x9e37_79b9, 0x85eb_ca6b) ^ low
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
