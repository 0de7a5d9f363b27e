import { hash64 } from './hash64.ts'

const SLOTS = 1 << 12

/**
 * Tells which texts come again, so that only these are kept: to keep what is requested once costs more than making it. It
 * knows a few thousand texts by their hashes.
 */
export class SeenAgain {
  readonly #hashes = new Uint32Array(SLOTS)

  /** Whether the text was noted before. Notes it. */
  note(text: string): boolean {
    const [hash, other] = hash64(text)
    const slot = other % SLOTS
    if (this.#hashes[slot] === hash) return true
    this.#hashes[slot] = hash
    return false
  }
}
