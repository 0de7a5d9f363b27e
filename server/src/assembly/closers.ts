import type { Logger } from 'pino'
import { SECOND } from '../base/clock.ts'
import { TimeoutError, withinTime } from '../base/concurrency/within-time.ts'

/** Max time for closing one part. */
const PART_DEADLINE = 10 * SECOND
/** Max time for closing all parts together. */
const TOTAL_DEADLINE = 15 * SECOND
/** In milliseconds: what each remaining part gets once the total is used up. */
const LAST_CHANCE = 100

/** Anything that holds a connection, a timer, a file or unsaved work until it is closed. */
export interface Closable {
  close(): Promise<void> | void
}

interface Closer {
  name: string
  close: () => unknown
}

/** Some parts did not close: the process must be terminated from outside. */
class NotClosedError extends Error {
  override name = 'NotClosedError'
}

/**
 * Closes what was opened, in reverse order, each with a timeout: a part that hangs, such as a database that
 * does not respond, must not prevent the process from stopping.
 */
export class Closers {
  readonly #log: Logger | undefined
  readonly #closers: Closer[] = []
  readonly #registered = new Set<unknown>()
  #closing: Promise<void> | null = null

  constructor(log?: Logger) {
    this.#log = log
  }

  /** Registers a part when it is created, so that a stop always closes it, and returns it. */
  use<T extends Closable>(part: T, name = part.constructor.name): T {
    this.#registered.add(part)
    this.defer(() => part.close(), name)
    return part
  }

  defer(close: () => unknown, name = 'a part'): void {
    this.#closers.push({ name, close })
  }

  /** Throws if a closable part was not registered, so that every start reveals the mistake. */
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

  /** Rejects with a NotClosedError that names the parts that failed or hung. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const end = performance.now() + TOTAL_DEADLINE
    const failed: string[] = []
    for (const { name, close } of this.#closers.reverse()) {
      const timeout = Math.min(PART_DEADLINE, Math.max(end - performance.now(), LAST_CHANCE))
      try {
        await withinTime(
          timeout,
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
