/**
 * A pool of buffers, in size classes, in which pages are assembled: allocating a new buffer for each page
 * costs more than copying the page.
 */
const SIZES = [1 << 14, 1 << 17, 1 << 20, 1 << 22]
const MAX_KEPT = [64, 32, 8, 4]
const freeBuffers: Buffer[][] = SIZES.map(() => [])

/** A buffer of at least `size` bytes, and its size class, to return it to. */
export function takeBuffer(size: number): { buffer: Buffer; sizeClass: number } {
  let sizeClass = 0
  while (sizeClass < SIZES.length && size > SIZES[sizeClass]!) sizeClass++
  const buffer = freeBuffers[sizeClass]?.pop() ?? Buffer.allocUnsafeSlow(SIZES[sizeClass] ?? size)
  return { buffer, sizeClass }
}

/** Returns a buffer to the pool. Call it only when the buffer is no longer read. */
export function releaseBuffer(sizeClass: number, buffer: Buffer): void {
  const buffers = freeBuffers[sizeClass]
  if (buffers && buffers.length < MAX_KEPT[sizeClass]!) buffers.push(buffer)
}
