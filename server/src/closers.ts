import type { Logger } from 'pino'
import { SECOND } from './clock.ts'
import { TimeoutError, withinTime } from './within-time.ts'

/** How long one part may take to close. */
const PART_DEADLINE = 10 * SECOND
/** How long all parts may take together. */
const TOTAL_DEADLINE = 15 * SECOND
/** What is left for each part once the total is used up, in milliseconds. */
const LAST_CHANCE = 100

/** Anything that holds a connection, a timer, a file or unsaved work until it is closed. */
export interface Closable {
  close(): Promise<void> | void
}

interface Closer {
  name: string
  close: () => unknown
}

/** Some parts did not close: the process must be ended from outside. */
class NotClosedError extends Error {
  override name = 'NotClosedError'
}

/**
 * Closes what was opened, in the opposite order, each with a deadline: a part that hangs, such as a database
 * that does not respond, must not keep the process from stopping.
 */
export class Closers {
  readonly #log: Logger | undefined
  readonly #closers: Closer[] = []
  readonly #registered = new Set<unknown>()
  #closing: Promise<void> | null = null

  constructor(log?: Logger) {
    this.#log = log
  }

  /** Registers a part when it is created, so that no stop forgets it, and returns it. */
  use<T extends Closable>(part: T, name = part.constructor.name): T {
    this.#registered.add(part)
    this.defer(() => part.close(), name)
    return part
  }

  defer(close: () => unknown, name = 'a part'): void {
    this.#closers.push({ name, close })
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

  /** Rejects with a NotClosedError that names the parts which failed or hung. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const end = performance.now() + TOTAL_DEADLINE
    const failed: string[] = []
    for (const { name, close } of this.#closers.reverse()) {
      const left = Math.min(PART_DEADLINE, Math.max(end - performance.now(), LAST_CHANCE))
      try {
        await withinTime(
          left,
          Promise.resolve().then(() => close()),
        )
      } catch (error) {
        failed.push(name)
        if (error instanceof TimeoutError) this.#log?.error(`Stopping: ${name} did not close in time.`)
        else this.#log?.error({ err: error }, `Stopping: ${name} failed to close.`)
      }
    }
    if (failed.length > 0) throw new NotClosedError(`Not closed: ${failed.join(', ')}.`)
  }
}
