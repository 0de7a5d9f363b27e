/** Single-flight: callers that arrive while it runs share the same run, so it is safe to call at any rate. */
export function singleFlight<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}

/** The same by key: callers with one key share the run of that key. */
export class SingleFlights<K, T> {
  readonly #running = new Map<K, Promise<T>>()

  /** How many runs are under way. */
  get size(): number {
    return this.#running.size
  }

  run(key: K, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key)
    if (running) return running
    const run = work().finally(() => this.#running.delete(key))
    this.#running.set(key, run)
    return run
  }

  /** Resolves when all current runs have ended, whether they succeed or fail. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values())
  }
}
