/** What a slow reader costs: ten thousand of them are cheap. */
export const SMALL = 64 * 1024
/** What a fast reader is given at once: fewer, larger reads. */
export const LARGE = 512 * 1024

const MOST_FREE: Record<number, number> = { [SMALL]: 256, [LARGE]: 32 }

/**
 * Buffers that are used again and again. Fresh ones for every read made the garbage collector work as hard as
 * the sending itself.
 */
export class BufferPool {
  readonly #free = new Map<number, Buffer[]>([
    [SMALL, []],
    [LARGE, []],
  ])

  take(size: typeof SMALL | typeof LARGE): Buffer {
    return this.#free.get(size)!.pop() ?? Buffer.allocUnsafeSlow(size)
  }

  giveBack(buffer: Buffer): void {
    const free = this.#free.get(buffer.length)!
    if (free.length < MOST_FREE[buffer.length]!) free.push(buffer)
  }
}
