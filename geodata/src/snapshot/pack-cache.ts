/**
 * Blocks of packs in memory, bounded and shared by all snapshots, so that the parts of the world which people
 * look at are not read from disk again. The block that was not used for longest leaves first.
 */
export const PACK_BLOCK_BYTES = 1 << 18

export type ReadBlock = (from: number, to: number) => Promise<Buffer>

/** Room for packs of 4 TB each: a block's number and its pack's make one exact integer. */
const MAX_BLOCKS = 2 ** 24

export class PackCache {
  readonly #maxBytes: number
  /** A map keeps its order: the first entry is the one that was not used for longest. */
  readonly #blocks = new Map<number, Buffer>()
  readonly #reading = new Map<number, Promise<Buffer>>()
  #bytes = 0
  #packs = 0
  #newest = -1
  #newestBlock: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** A number for a pack, by which it names its blocks. */
  admit(): number {
    return this.#packs++
  }

  /** The block if it is in memory, without waiting. */
  peek(pack: number, block: number): Buffer | undefined {
    const key = pack * MAX_BLOCKS + block
    // Features stand together: the block that was asked for last is asked for again, and is the newest already.
    if (key === this.#newest) return this.#newestBlock
    const found = this.#blocks.get(key)
    if (found !== undefined) {
      this.#blocks.delete(key)
      this.#blocks.set(key, found)
      this.#newest = key
      this.#newestBlock = found
    }
    return found
  }

  /** The block from memory or by `read`; several who want it at once share one read. */
  async block(pack: number, block: number, packBytes: number, read: ReadBlock): Promise<Buffer> {
    const found = this.peek(pack, block)
    if (found !== undefined) return found
    const key = pack * MAX_BLOCKS + block
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

  /** Forgets the blocks of a pack that is no longer served. */
  forget(pack: number): void {
    this.#newest = -1
    this.#newestBlock = undefined
    for (const [key, bytes] of this.#blocks) {
      if (Math.floor(key / MAX_BLOCKS) !== pack) continue
      this.#blocks.delete(key)
      this.#bytes -= bytes.length
    }
  }

  #keep(key: number, bytes: Buffer): void {
    if (bytes.length > this.#maxBytes) return
    this.#newest = -1
    this.#newestBlock = undefined
    this.#blocks.set(key, bytes)
    this.#bytes += bytes.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#bytes <= this.#maxBytes) break
      this.#blocks.delete(oldest)
      this.#bytes -= old.length
    }
  }
}
