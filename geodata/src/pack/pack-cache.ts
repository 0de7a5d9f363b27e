import type { SharedLoads } from '../bytes/shared-loads.ts'
import { sharedBytes } from '../bytes/shared-memory.ts'

/**
 * An in-memory cache of pack blocks with a byte limit, shared by all snapshots, so that frequently requested
 * areas are not read from disk again. Eviction is CLOCK (second chance): using a block only sets a flag, and
 * when space is needed, the oldest blocks without the flag are evicted while flagged ones are moved to the
 * end. A block's checksum is verified once, when it is read from disk.
 */
export const PACK_BLOCK_BYTES = 1 << 18

export type ReadBlock = (from: number, to: number) => Promise<Buffer>

export class PackCache {
  readonly shared: SharedLoads | null
  readonly #maxBytes: number
  /** The blocks in eviction order. */
  readonly #blocks = new Set<CachedBlock>()
  #bytes = 0
  /** How often a block was in the cache, and how often it was read from the disk. */
  readonly lookups = { hits: 0, misses: 0 }

  /** `shared` is null if no other thread serves from these blocks. */
  constructor(maxBytes: number, shared: SharedLoads | null = null) {
    this.#maxBytes = maxBytes
    this.shared = shared
  }

  get bytes(): number {
    return this.#bytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  /** Registers a pack, whose blocks then share this cache. `name` tells it from all other packs. */
  admit(packBytes: number, read: ReadBlock, name = ''): CachedPack {
    return new CachedPack(packBytes, read, this, name)
  }

  keep(block: CachedBlock): void {
    const size = block.bytes.length
    if (size > this.#maxBytes) {
      block.pack.release(block.number)
      return
    }
    for (const oldest of this.#blocks) {
      if (this.#bytes + size <= this.#maxBytes) break
      if (oldest.isUsed) {
        oldest.isUsed = false
        this.#blocks.delete(oldest)
        this.#blocks.add(oldest)
      } else this.forget(oldest)
    }
    block.pack.blocks[block.number] = block
    this.#blocks.add(block)
    this.#bytes += size
  }

  forget(block: CachedBlock): void {
    if (!this.#blocks.delete(block)) return
    block.pack.blocks[block.number] = undefined
    block.pack.release(block.number)
    this.#bytes -= block.bytes.length
  }
}

interface CachedBlock {
  pack: CachedPack
  number: number
  bytes: Buffer
  isUsed: boolean
}

/** The cached blocks of one pack. */
export class CachedPack {
  readonly blocks: (CachedBlock | undefined)[]
  readonly #name: string
  readonly #packBytes: number
  readonly #read: ReadBlock
  readonly #cache: PackCache
  readonly #reading = new Map<number, Promise<Buffer>>()
  #hasLeft = false

  constructor(packBytes: number, read: ReadBlock, cache: PackCache, name: string) {
    this.#name = name
    this.blocks = new Array(Math.ceil(packBytes / PACK_BLOCK_BYTES)).fill(undefined)
    this.#packBytes = packBytes
    this.#read = read
    this.#cache = cache
  }

  /** Returns the block if it is in memory, synchronously. */
  peek(number: number): Buffer | undefined {
    const block = this.blocks[number]
    if (block === undefined) return undefined
    block.isUsed = true
    this.#cache.lookups.hits++
    return block.bytes
  }

  /** Returns the block from memory or disk; concurrent callers share one read (single-flight). */
  async block(number: number): Promise<Buffer> {
    const block = this.peek(number) ?? this.#reading.get(number)
    if (block !== undefined) return block
    this.#cache.lookups.misses++
    const reading = this.#load(number)
    this.#reading.set(number, reading)
    try {
      const bytes = await reading
      if (this.#hasLeft) this.release(number)
      else this.#cache.keep({ pack: this, number, bytes, isUsed: false })
      return bytes
    } finally {
      this.#reading.delete(number)
    }
  }

  /** Other threads keep the block for as long as they use it. */
  release(number: number): void {
    this.#cache.shared?.release(this.#keyOf(number))
  }

  async #load(number: number): Promise<Buffer> {
    const from = number * PACK_BLOCK_BYTES
    const read = () => this.#read(from, Math.min(this.#packBytes, from + PACK_BLOCK_BYTES))
    const { shared } = this.#cache
    if (shared === null) return read()
    const { bytes } = await shared.load(this.#keyOf(number), async () => ({
      bytes: sharedBytes(await read()),
    }))
    // From another thread it comes as a plain array.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  #keyOf(number: number): string {
    return `${this.#name} ${number}`
  }

  /** Evicts all blocks of a pack that is no longer served. */
  leave(): void {
    this.#hasLeft = true
    for (const block of this.blocks) if (block) this.#cache.forget(block)
  }
}
