/** Anything that holds a connection, a timer, a file or unsaved work until it is closed. */
export interface Closable {
  close(): Promise<void> | void
}

/** What was opened, closed in the opposite order. */
export class Closers {
  readonly #stack = new AsyncDisposableStack()
  readonly #registered = new Set<unknown>()

  /** Registers a part when it is created, so that no stop forgets it, and returns it. */
  use<T extends Closable>(part: T): T {
    this.#registered.add(part)
    this.#stack.defer(() => part.close())
    return part
  }

  defer(work: () => Promise<void> | void): void {
    this.#stack.defer(work)
  }

  /** Throws if one of the parts can be closed and was not registered: a mistake that every start then shows. */
  requireAll(parts: object): void {
    for (const [name, part] of Object.entries(parts)) {
      const canClose = typeof (part as Partial<Closable> | null)?.close === 'function'
      if (canClose && !this.#registered.has(part)) {
        throw new Error(
          `The part "${name}" can be closed, and no stop would close it: create it with closers.use().`,
        )
      }
    }
  }

  close(): Promise<void> {
    return this.#stack.disposeAsync()
  }
}
