interface Run<T> {
  result: Promise<T>
  waiting: number
  abandoned: AbortController
}

/** Single-flight by key, for work that is aborted when no caller waits for it any longer. */
export class SharedWork<T> {
  readonly #runs = new Map<string, Run<T>>()

  /** How many runs are under way. */
  get size(): number {
    return this.#runs.size
  }

  /** Joins the run of this key, or begins it. Leaves it when the caller's signal aborts. */
  async join(key: string, signal: AbortSignal, work: (abandoned: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    const run = this.#runs.get(key) ?? this.#begin(key, work)
    run.waiting++
    const leave = () => {
      if (--run.waiting > 0) return
      this.#remove(key, run)
      run.abandoned.abort(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await run.result
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #begin(key: string, work: (abandoned: AbortSignal) => Promise<T>): Run<T> {
    const abandoned = new AbortController()
    const result = work(abandoned.signal).finally(() => this.#remove(key, run))
    const run: Run<T> = { result, waiting: 0, abandoned }
    this.#runs.set(key, run)
    return run
  }

  /** A caller that comes after a run was abandoned begins a new one. */
  #remove(key: string, run: Run<T>): void {
    if (this.#runs.get(key) === run) this.#runs.delete(key)
  }
}
