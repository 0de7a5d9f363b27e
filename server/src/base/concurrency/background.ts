import type { Logger } from 'pino'

/** Work that continues after the response was sent. Bounded, and awaited at shutdown. */
export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #max: number
  readonly #log: Logger

  constructor(max: number, log: Logger) {
    this.#max = max
    this.#log = log
  }

  get full(): boolean {
    return this.#running.size >= this.#max
  }

  /** `failure` is the log message if the work throws. */
  run(failure: string, work: () => Promise<void>): void {
    const running = Promise.resolve()
      .then(work)
      .catch((error: unknown) => this.#log.error({ err: error }, failure))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
