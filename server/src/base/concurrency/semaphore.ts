/** Runs at most `capacity` pieces of work at a time; the others wait in the order of their arrival. */
export class Semaphore {
  readonly #capacity: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#capacity) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The next one takes over this one's place.
      if (next) next()
      else this.#running--
    }
  }
}
