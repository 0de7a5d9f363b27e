import { allocateBlock } from '../bytes/allocate-block.ts'
import type { SharedLoads } from '../bytes/shared-loads.ts'
import { sharedBytes } from '../bytes/shared-memory.ts'

/**
 * An in-memory cache of parts of packs and indexes with a byte limit, shared by all snapshots, so that frequently
 * requested areas are not read from disk again. Eviction is CLOCK (second chance): using a part only sets a flag, and
 * when space is needed, the oldest parts without the flag are evicted while flagged ones are moved to the end.
 *
 * A file is read and verified by blocks, because each block has one checksum, but only the parts that are needed are
 * kept: the features of a filter or a sorted page lie far apart, and keeping a whole block for each of them would
 * fill the cache with bytes that were not requested. A block of which several parts are needed is kept as a whole.
 */
export const PACK_BLOCK_BYTES = 1 << 18
export const PACK_PART_BYTES = 1 << 15
const PARTS = PACK_BLOCK_BYTES / PACK_PART_BYTES
const PARTS_SHIFT = Math.log2(PARTS)
/** If more parts of a block are needed than this, all of them are kept. */
const MAX_SINGLE_PARTS = 2

/** Reads bytes into memory that nothing else uses. */
export type ReadBytes = (from: number, to: number) => Promise<Buffer>

export class PackCache {
  readonly shared: SharedLoads | null
  readonly #maxBytes: number
  /** The parts in eviction order. */
  readonly #parts = new Set<CachedPart>()
  #bytes = 0
  /** How often a part was in the cache, and how often it was read from the disk. */
  readonly lookups = { hits: 0, misses: 0 }

  /** `shared` is null if no other thread serves from these parts. */
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

  /** Registers a pack, whose parts then share this cache. `name` tells it from all other packs. */
  admit(packBytes: number, read: ReadBytes, name = ''): CachedPack {
    return new CachedPack(packBytes, read, this, name)
  }

  keep(part: CachedPart): void {
    const size = part.bytes.length
    if (size > this.#maxBytes) {
      part.pack.release(part.number)
      return
    }
    for (const oldest of this.#parts) {
      if (this.#bytes + size <= this.#maxBytes) break
      if (oldest.isUsed) {
        oldest.isUsed = false
        this.#parts.delete(oldest)
        this.#parts.add(oldest)
      } else this.forget(oldest)
    }
    part.pack.put(part)
    this.#parts.add(part)
    this.#bytes += size
  }

  forget(part: CachedPart): void {
    if (!this.#parts.delete(part)) return
    part.pack.remove(part)
    part.pack.release(part.number)
    this.#bytes -= part.bytes.length
  }
}

export interface CachedPart {
  readonly pack: CachedPack
  readonly number: number
  readonly bytes: Buffer
  /** The same bytes as numbers, if they were read as numbers. */
  numbers: Float64Array | Uint32Array | null
  isUsed: boolean
}

/** The cached parts of one pack. */
export class CachedPack {
  /** By block: its parts that are in memory. */
  readonly #blocks: ((CachedPart | undefined)[] | undefined)[]
  readonly #name: string
  readonly #packBytes: number
  readonly #read: ReadBytes
  readonly #cache: PackCache
  readonly #reading = new Map<number, Promise<CachedPart>>()
  #hasLeft = false

  constructor(packBytes: number, read: ReadBytes, cache: PackCache, name: string) {
    this.#name = name
    this.#blocks = new Array(Math.ceil(packBytes / PACK_BLOCK_BYTES)).fill(undefined)
    this.#packBytes = packBytes
    this.#read = read
    this.#cache = cache
  }

  /** Returns the part if it is in memory, synchronously. */
  peek(number: number): CachedPart | undefined {
    const part = this.#blocks[number >>> PARTS_SHIFT]?.[number & (PARTS - 1)]
    if (part === undefined) return undefined
    part.isUsed = true
    this.#cache.lookups.hits++
    return part
  }

  /**
   * Returns the part from memory or disk; concurrent callers share one read (single-flight). `last` is the last part
   * that the caller is going to need.
   */
  async load(number: number, last = number): Promise<CachedPart> {
    const part = this.peek(number) ?? this.#reading.get(number)
    if (part !== undefined) return part
    this.#cache.lookups.misses++
    this.#readParts(this.#partsToRead(number, last))
    return this.#reading.get(number)!
  }

  /** All parts of the block that are not in memory, or this one. */
  #partsToRead(number: number, last: number): number[] {
    const block = number >>> PARTS_SHIFT
    const end = Math.min((block + 1) * PARTS, Math.ceil(this.#packBytes / PACK_PART_BYTES))
    const kept = this.#blocks[block]?.filter((part) => part !== undefined).length ?? 0
    if (kept + Math.min(last + 1, end) - number <= MAX_SINGLE_PARTS) return [number]
    const parts: number[] = []
    for (let part = block * PARTS; part < end; part++)
      if (!this.#blocks[block]?.[part % PARTS] && !this.#reading.has(part)) parts.push(part)
    return parts
  }

  /** Reads these parts of one block with one read. */
  #readParts(numbers: readonly number[]): void {
    const from = numbers[0]! * PACK_PART_BYTES
    const end = Math.min(this.#packBytes, (numbers.at(-1)! + 1) * PACK_PART_BYTES)
    let reading: Promise<Buffer> | null = null
    for (const number of numbers) {
      const start = number * PACK_PART_BYTES
      const read = async () => {
        reading ??= this.#read(from, end)
        return ownPart(await reading, start - from, Math.min(end, start + PACK_PART_BYTES) - from)
      }
      const part = this.#load(number, read).finally(() => this.#reading.delete(number))
      // The other parts are not waited for.
      part.catch(() => {})
      this.#reading.set(number, part)
    }
  }

  async #load(number: number, read: () => Promise<Buffer>): Promise<CachedPart> {
    const bytes = await this.#loadBytes(number, read)
    const part = { pack: this, number, bytes, numbers: null, isUsed: false }
    if (this.#hasLeft) this.release(number)
    else this.#cache.keep(part)
    return part
  }

  async #loadBytes(number: number, read: () => Promise<Buffer>): Promise<Buffer> {
    const { shared } = this.#cache
    if (shared === null) return read()
    const { bytes } = await shared.load(this.#keyOf(number), async () => ({
      bytes: sharedBytes(await read()),
    }))
    // From another thread it comes as a plain array.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  put(part: CachedPart): void {
    const block = part.number >>> PARTS_SHIFT
    this.#blocks[block] ??= new Array<CachedPart | undefined>(PARTS).fill(undefined)
    this.#blocks[block][part.number % PARTS] = part
  }

  remove(part: CachedPart): void {
    const block = part.number >>> PARTS_SHIFT
    const parts = this.#blocks[block]!
    parts[part.number % PARTS] = undefined
    if (parts.every((other) => other === undefined)) this.#blocks[block] = undefined
  }

  /** Other threads keep the part for as long as they use it. */
  release(number: number): void {
    this.#cache.shared?.release(this.#keyOf(number))
  }

  #keyOf(number: number): string {
    return `${this.#name} ${number}`
  }

  /** Evicts all parts of a pack that is no longer served. */
  leave(): void {
    this.#hasLeft = true
    for (const parts of this.#blocks) for (const part of parts ?? []) if (part) this.#cache.forget(part)
  }
}

/** A part of the bytes that were read, with memory of its own, so that it can be freed alone. */
function ownPart(bytes: Buffer, from: number, to: number): Buffer {
  if (to - from === bytes.length) return bytes
  const part = allocateBlock(to - from)
  bytes.copy(part, 0, from, to)
  return part
}
