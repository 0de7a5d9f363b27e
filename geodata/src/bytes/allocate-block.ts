/** Memory for a block of a file that is going to be cached. It is not part of a pool, so that it is freed alone. */
export function allocateBlock(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(bytes)
}

/** Memory for numbers that were loaded, which threads can share. */
export function allocateShared(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes)
}
