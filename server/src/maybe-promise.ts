/** A value that is there already, or will be. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Calls `next` at once if the value is there, else when it arrives. A chain of these stays synchronous as long
 * as every step finds what it needs in memory; `await` would give the event loop a turn at every step, which
 * takes longer than the work itself on a page of ten features.
 */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
