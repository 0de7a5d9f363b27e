/**
 * Blocks of packs in memory, bounded and shared by all snapshots, so that the parts of the world which people
 * look at are not read from disk again. The block that was not used for longest leaves first.
 */
export const PACK_BLOCK_BYTES = 1 << 18

export type ReadBlock = (from: number, to: number) => Promise<Buffer>

export class PackCache {
  readonly #maxBytes: number
  /** A map keeps its order: the first entry is the one that was not used for longest. */
  readonly #blocks = new Map<string, Buffer>()
  readonly #reading = new Map<string, Promise<Buffer>>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The block if it is in memory, without waiting. `snapshot` names the pack, `block` is its number. */
  peek(snapshot: string, block: number): Buffer | undefined {
    const key = `${snapshot} ${block}`
    const found = this.#blocks.get(key)
    if (found !== undefined) {
      this.#blocks.delete(key)
      this.#blocks.set(key, found)
    }
    return found
  }

  /** The block from memory or by `read`; several who want it at once share one read. */
  async block(snapshot: string, block: number, packBytes: number, read: ReadBlock): Promise<Buffer> {
    const found = this.peek(snapshot, block)
    if (found !== undefined) return found
    const key = `${snapshot} ${block}`
    const running = this.#reading.get(key)
    if (running !== undefined) return running
    const from = block * PACK_BLOCK_BYTES
    const reading = read(from, Math.min(packBytes, from + PACK_BLOCK_BYTES))
    this.#reading.set(key, reading)
    try {
      const bytes = await reading
      this.#keep(key, bytes)
      return bytes
    } finally {
      this.#reading.delete(key)
    }
  }

  /** Forgets a snapshot that is no longer served. */
  forget(snapshot: string): void {
    for (const [key, bytes] of this.#blocks) {
      if (!key.startsWith(`${snapshot} `)) continue
      this.#blocks.delete(key)
      this.#bytes -= bytes.length
    }
  }

  #keep(key: string, bytes: Buffer): void {
    if (bytes.length > this.#maxBytes) return
    this.#blocks.set(key, bytes)
    this.#bytes += bytes.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#bytes <= this.#maxBytes) break
      this.#blocks.delete(oldest)
      this.#bytes -= old.length
    }
  }
}
