/**
 * Runs work in the order in which it is added, at most `atOnce` pieces at a time, and one more when it is told to. The
 * server has a class like it, which the layout keeps scripts from importing.
 */
export class StepQueue {
  readonly #atOnce: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  get running(): number {
    return this.#running
  }

  async add<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      this.#running--
      if (this.#running < this.#atOnce) this.startOneMore()
    }
  }

  /** Starts the next piece, even if as many as usual are running. */
  startOneMore(): void {
    const next = this.#waiting.shift()
    if (!next) return
    this.#running++
    next()
  }
}
