/** What a slow reader costs: ten thousand of them are cheap. */
export const SMALL = 16 * 1024
/** What a fast reader is given at once: fewer, larger reads. */
export const LARGE = 512 * 1024

/** A reader that was fast and then stopped holds large buffers: so many may be out, and no more. */
const MOST_LARGE = 256
const MOST_FREE: Record<number, number> = { [SMALL]: 1024, [LARGE]: 32 }

/**
 * Buffers that are used again and again. Fresh ones for every read made the garbage collector work as hard as
 * the sending itself.
 */
export class BufferPool {
  readonly #free = new Map<number, Buffer[]>([
    [SMALL, []],
    [LARGE, []],
  ])
  #largeOut = 0

  /** A small one where too many large ones are out. */
  take(wanted: typeof SMALL | typeof LARGE): Buffer {
    const size = wanted === LARGE && this.#largeOut < MOST_LARGE ? LARGE : SMALL
    if (size === LARGE) this.#largeOut++
    return this.#free.get(size)!.pop() ?? Buffer.allocUnsafeSlow(size)
  }

  giveBack(buffer: Buffer): void {
    this.giveUp(buffer)
    const free = this.#free.get(buffer.length)!
    if (free.length < MOST_FREE[buffer.length]!) free.push(buffer)
  }

  /** For a buffer that someone may still read: it is not used again. */
  giveUp(buffer: Buffer): void {
    if (buffer.length === LARGE) this.#largeOut--
  }
}
