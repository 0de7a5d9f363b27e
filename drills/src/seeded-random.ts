/** A repeatable source of randomness (mulberry32): the same seed gives the same sequence. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('Cannot pick from an empty list.')
    return list[this.integer(0, list.length - 1)]!
  }

  sample<T>(list: readonly T[], count: number): T[] {
    const rest = [...list]
    const chosen: T[] = []
    while (chosen.length < count && rest.length > 0) {
      chosen.push(...rest.splice(this.integer(0, rest.length - 1), 1))
    }
    return chosen
  }
}
