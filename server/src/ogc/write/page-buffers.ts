/**
 * A pool of buffers, in size classes, in which pages are assembled: allocating a new buffer for each page
 * costs more than copying the page.
 */
const SIZES = [1 << 14, 1 << 17, 1 << 20, 1 << 22]
const MAX_KEPT = [64, 32, 8, 4]
const freeBuffers: Buffer[][] = SIZES.map(() => [])

/** A buffer of at least `size` bytes, and the size class (`shelf`) to return it to. */
export function takeBuffer(size: number): { buffer: Buffer; shelf: number } {
  let shelf = 0
  while (shelf < SIZES.length && size > SIZES[shelf]!) shelf++
  const buffer = freeBuffers[shelf]?.pop() ?? Buffer.allocUnsafeSlow(SIZES[shelf] ?? size)
  return { buffer, shelf }
}

/** Returns a buffer to the pool. Call it only when the buffer is no longer read. */
export function releaseBuffer(shelf: number, buffer: Buffer): void {
  const buffers = freeBuffers[shelf]
  if (buffers && buffers.length < MAX_KEPT[shelf]!) buffers.push(buffer)
}
