/**
 * Data that one of several threads has loaded and the others use too. What is loaded is an object of typed arrays in
 * shared memory, texts and numbers, and is never changed. With one thread there is none.
 *
 * See docs/decisions/serving-threads.md.
 */
export interface SharedLoads {
  /** What a thread has loaded under this key; otherwise what `read` returns, which no other thread reads meanwhile. */
  load<T extends object>(key: string, read: () => Promise<T>): Promise<T>
  /** To be called as often as `load` succeeded: this thread does not use the data any more. */
  release(key: string): void
}
