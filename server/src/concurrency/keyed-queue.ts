interface Task {
  key: string
  run: () => Promise<void>
}

/**
 * Runs tasks in the order in which they are added, at most `maxRunning` at the same time, and those with the
 * same key one after the other. A task that waits for its key does not delay tasks with other keys.
 */
export class KeyedQueue {
  readonly #maxRunning: number
  readonly #running = new Map<string, Promise<void>>()
  #waiting: Task[] = []

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** `run` must not fail. The returned function removes the task; false if it has begun. */
  add(key: string, run: () => Promise<void>): () => boolean {
    const task = { key, run }
    this.#waiting.push(task)
    this.#start()
    return () => {
      const count = this.#waiting.length
      this.#waiting = this.#waiting.filter((other) => other !== task)
      return this.#waiting.length < count
    }
  }

  /** Resolves when nothing runs or waits. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  #start(): void {
    for (const task of this.#waiting.slice()) {
      if (this.#running.size >= this.#maxRunning) return
      // The first task of a key that is found here is the oldest, and holds the key from then on.
      if (this.#running.has(task.key)) continue
      this.#waiting = this.#waiting.filter((other) => other !== task)
      this.#running.set(
        task.key,
        task.run().finally(() => {
          this.#running.delete(task.key)
          this.#start()
        }),
      )
    }
  }
}
