import type { TimedWork } from './timed-work.ts'

/**
 * The rest of some work whose first part has run synchronously: something has to be read, or the time slice is over.
 * It is not a promise, because it does not go on by itself: the caller first waits for its turn.
 */
export class Unfinished<T> {
  /** Goes on where the work has stopped, and runs it to its end. Call it once. */
  readonly finish: (work: TimedWork) => Promise<T>

  constructor(finish: (work: TimedWork) => Promise<T>) {
    this.finish = finish
  }
}

/**
 * A value if everything it needs is in memory and it is found in one time slice, otherwise the rest of the work. The
 * same code serves a page in memory, for which a promise would cost more than the search, and one that has to wait.
 */
export type MaybeUnfinished<T> = T | Unfinished<T>

/** The value; if it is unfinished, a promise of it. */
export function finish<T>(found: MaybeUnfinished<T>, work: TimedWork): T | Promise<T> {
  return found instanceof Unfinished ? found.finish(work) : found
}

/** Calls `next` with the value as soon as there is one. */
export function whenFinished<T, R>(
  found: MaybeUnfinished<T>,
  next: (value: T) => MaybeUnfinished<R>,
): MaybeUnfinished<R> {
  return found instanceof Unfinished ? continued(found, next) : next(found)
}

// The closures of the slow way are made in functions of their own: a function that holds one allocates its context on
// every call, which a page in memory would pay for too.

function continued<T, R>(found: Unfinished<T>, next: (value: T) => MaybeUnfinished<R>): Unfinished<R> {
  return new Unfinished(async (work) => finish(next(await found.finish(work)), work))
}

/** Something that a generator yields because it is not in memory: how to get it. */
type Need = (work: TimedWork) => Promise<unknown>

/** Work as a generator. It yields what it needs by `need`. */
export type Steps<T> = Generator<Need, T, unknown>

/** What `read` resolves to. */
export function* need<T>(read: (work: TimedWork) => Promise<T>): Steps<T> {
  return (yield read) as T
}

/** Runs steps synchronously up to the first need; finishing them goes on from there. */
export function begin<T>(steps: Steps<T>): MaybeUnfinished<T> {
  const first = steps.next()
  return first.done ? first.value : rest(steps, first.value)
}

function rest<T>(steps: Steps<T>, first: Need): Unfinished<T> {
  return new Unfinished(async (work) => {
    let step = steps.next(await first(work))
    while (!step.done) step = steps.next(await step.value(work))
    return step.value
  })
}
