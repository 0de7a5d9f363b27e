/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Calls `next` at once if the value is available, otherwise when the promise resolves. A chain of these stays
 * synchronous as long as every step finds what it needs in memory; `await` would yield to the event loop at
 * every step, which takes longer than the work itself for a page of ten features.
 */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
