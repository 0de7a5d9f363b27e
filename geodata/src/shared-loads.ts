/**
 * Data that one of several threads has loaded and the others use too. What is loaded is an object of typed arrays in
 * shared memory, texts and numbers, and is never changed. Without such threads there is none, and every array is
 * private.
 *
 * See docs/decisions/serving-threads.md.
 */
export interface SharedLoads {
  /** What a thread has loaded under this key; otherwise what `read` returns, which no other thread reads meanwhile. */
  load<T extends object>(key: string, read: () => Promise<T>): Promise<T>
  /** To be called as often as `load` succeeded: this thread does not use the data any more. */
  release(key: string): void
}

/** Memory for bytes that are about to be read, zeroed if it is shared. */
export function allocateBytes(bytes: number, isShared: boolean): Buffer {
  return isShared ? Buffer.from(new SharedArrayBuffer(bytes)) : Buffer.allocUnsafeSlow(bytes)
}

/** The same object with all its typed arrays in shared memory; copies those that are not. */
export function inSharedMemory<T extends object>(parts: T): T {
  const entries = Object.entries(parts).map(([name, part]) => [
    name,
    ArrayBuffer.isView(part) ? sharedArray(part as Uint8Array) : part,
  ])
  return Object.fromEntries(entries) as T
}

/** The same array in shared memory. */
export function sharedArray<T extends Uint8Array>(array: T): T {
  if (array.buffer instanceof SharedArrayBuffer) return array
  const Kind = array.constructor as new (memory: SharedArrayBuffer) => T
  const shared = new Kind(new SharedArrayBuffer(array.byteLength))
  shared.set(array)
  return shared
}
