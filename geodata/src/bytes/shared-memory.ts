/**
 * Memory that threads can share is used for what caches keep, because V8 does not count it: after every 64 MB of other
 * buffers V8 collects garbage of the whole heap, which stopped all requests for 20 to 40 ms while columns were loaded.
 */

/** Larger than any allocation that the C library takes from memory that was used before. */
const COUNTED_BYTES = 64 << 20
let discarded = 0

export function sharedDoubles(length: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(length * 8))
}

/** A copy of the bytes. */
export function sharedBytes(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}

/** The same object with its typed arrays in shared memory. */
export function inSharedMemory<T extends object>(parts: T): T {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, sharedPart(part)])) as T
}

function sharedPart(part: unknown): unknown {
  if (!ArrayBuffer.isView(part) || part.buffer instanceof SharedArrayBuffer) return part
  const array = part as Uint8Array
  const ArrayClass = array.constructor as Uint8ArrayConstructor
  const copy = new ArrayClass(new SharedArrayBuffer(array.byteLength), 0, array.length)
  copy.set(array)
  return copy
}

/**
 * Call it when a cache drops what it has kept. Without it, nothing would tell V8 that there is garbage to collect. A
 * buffer that nobody keeps counts until the next collection; it takes no memory, because nothing is written to it.
 */
export function discardShared(bytes: number): void {
  discarded += bytes
  if (discarded < COUNTED_BYTES) return
  discarded = 0
  void new ArrayBuffer(COUNTED_BYTES)
}
