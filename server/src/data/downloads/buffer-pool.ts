/** Buffer size of a slow client, in bytes: small enough that ten thousand slow clients are cheap. */
export const SMALL = 16 * 1024
/** Buffer size of a fast client, in bytes: fewer, larger reads. */
export const LARGE = 512 * 1024

/**
 * Max large buffers in use at once, because a client that was fast and then stalled holds on to large
 * buffers.
 */
const MAX_LARGE = 256
const MAX_FREE: Record<number, number> = { [SMALL]: 1024, [LARGE]: 32 }

/**
 * A pool of reusable buffers. Allocating a new one for every read made garbage collection as expensive as the
 * sending itself.
 */
export class BufferPool {
  readonly #free = new Map<number, Buffer[]>([
    [SMALL, []],
    [LARGE, []],
  ])
  #largeOut = 0

  /** Returns a small buffer if too many large ones are in use. */
  take(preferredSize: typeof SMALL | typeof LARGE): Buffer {
    const size = preferredSize === LARGE && this.#largeOut < MAX_LARGE ? LARGE : SMALL
    if (size === LARGE) this.#largeOut++
    return this.#free.get(size)!.pop() ?? Buffer.allocUnsafeSlow(size)
  }

  release(buffer: Buffer): void {
    this.discard(buffer)
    const free = this.#free.get(buffer.length)!
    if (free.length < MAX_FREE[buffer.length]!) free.push(buffer)
  }

  /** Discards a buffer that may still be read, so that it is not reused. */
  discard(buffer: Buffer): void {
    if (buffer.length === LARGE) this.#largeOut--
  }
}
