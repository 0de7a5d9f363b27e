/**
 * A cache with a limit that evicts its oldest entries first (FIFO), so that a lookup costs no more than one of
 * a Map. The limit is a number of entries or, with `weigh`, the sum of their weights, such as bytes. A key that has
 * text of requests must be part of the weight. Use it for what can be computed again at a small cost.
 */
export class BoundedCache<K, V> {
  readonly #max: number
  readonly #weigh: ((value: V, key: K) => number) | null
  /** In the order of insertion. */
  readonly #entries = new Map<K, V>()
  #weight = 0

  constructor(max: number, weigh: ((value: V, key: K) => number) | null = null) {
    this.#max = max
    this.#weigh = weigh
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** The entry becomes the newest one. A value that alone is heavier than the limit is not kept. */
  set(key: K, value: V): void {
    this.delete(key)
    const weight = this.#weigh ? this.#weigh(value, key) : 1
    if (weight > this.#max) return
    this.#entries.set(key, value)
    this.#weight += weight
    if (this.#weight <= this.#max) return
    for (const oldest of this.#entries.keys()) {
      this.delete(oldest)
      if (this.#weight <= this.#max) return
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value === undefined && !this.#entries.has(key)) return
    this.#entries.delete(key)
    this.#weight -= this.#weigh ? this.#weigh(value as V, key) : 1
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }
}
