/** An LRU cache that is bounded by the size of its entries. */
export class ByteLru<K, T> {
  readonly #values = new Map<K, T>()
  readonly #maxBytes: number
  readonly #sizeOf: (value: T, key: K) => number
  #bytes = 0

  constructor(maxBytes: number, sizeOf: (value: T, key: K) => number) {
    this.#maxBytes = maxBytes
    this.#sizeOf = sizeOf
  }

  get(key: K): T | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  /** The value, without making it the most recently used one. */
  peek(key: K): T | undefined {
    return this.#values.get(key)
  }

  set(key: K, value: T): void {
    const before = this.#values.get(key)
    if (before !== undefined) this.#bytes -= this.#sizeOf(before, key)
    this.#values.delete(key)
    this.#values.set(key, value)
    this.#bytes += this.#sizeOf(value, key)
    for (const [oldest, old] of this.#values) {
      if (this.#bytes <= this.#maxBytes) break
      this.#values.delete(oldest)
      this.#bytes -= this.#sizeOf(old, oldest)
    }
  }
}
