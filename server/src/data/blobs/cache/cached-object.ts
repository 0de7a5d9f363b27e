import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type ByteSpan, CHECKED_BLOCK_BYTES, readFully } from '@wayleave/geodata/snapshot'
import { ObjectMissingError, type ObjectStore } from '../../../base/storage/object-store.ts'
import type { NodeCache } from './node-cache.ts'

const BLOCK = CHECKED_BLOCK_BYTES
/** Blocks are kept in files of this many, which are the units of eviction: 16 MB. */
const SEGMENT_BLOCKS = 64
/** Adjacent blocks that are missing are fetched by one request, up to this many. */
const MAX_FETCH_BLOCKS = 16

export interface CachedObjectOptions {
  store: ObjectStore
  cache: NodeCache
  key: string
  /** The file's name in messages. */
  name: string
  bytes: number
  /** The CRC-32 of each block. */
  blocks: Uint32Array
  /** The folder for the blocks on local disk. */
  folder: string
  /** A local copy of the whole file, if there is one. Its blocks are verified like all others. */
  wholePath: string
  /** The error for bytes that are damaged or missing in the store. */
  damaged: (message: string, cause?: unknown) => Error
}

/**
 * An object that is read by blocks. A block that is not in the cache is fetched, verified, and kept on local disk
 * in a sparse file. What is in such a file at the place of a block is only used if it has the block's checksum,
 * so holes, writes that a crash cut off, and writes of other processes need no bookkeeping.
 *
 * See docs/decisions/block-cache.md.
 */
export class CachedObject {
  readonly #options: CachedObjectOptions
  /** Blocks that are being fetched: concurrent readers share one fetch (single-flight). */
  readonly #fetching = new Map<number, Promise<Buffer>>()
  #hasWhole = true

  constructor(options: CachedObjectOptions) {
    this.#options = options
  }

  get bytes(): number {
    return this.#options.bytes
  }

  /** Returns the number of bytes that were read, which is less than `length` only at the end of the object. */
  async read(target: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    const end = Math.min(this.#options.bytes, position + length)
    if (end <= position) return 0
    const first = Math.floor(position / BLOCK)
    const last = Math.floor((end - 1) / BLOCK)
    for (const { number, bytes } of await this.#blocks(first, last)) {
      const start = number * BLOCK
      const from = Math.max(0, position - start)
      const to = Math.min(bytes.length, end - start)
      target.set(bytes.subarray(from, to), offset + start + from - position)
    }
    return end - position
  }

  /** The bytes of whole blocks. Throws if the object ends before `to`. */
  async readBlocks(from: number, to: number): Promise<Buffer> {
    const { name, bytes, damaged } = this.#options
    if (to > bytes) throw damaged(`${name} ends too early.`)
    const blocks = await this.#blocks(Math.floor(from / BLOCK), Math.ceil(to / BLOCK) - 1)
    const [block] = blocks
    // A copy of a part of a larger fetch, because the part would keep all of it in memory.
    if (blocks.length === 1 && block!.bytes.buffer.byteLength === to - from) return block!.bytes
    return Buffer.concat(blocks.map((one) => one.bytes)).subarray(0, to - from)
  }

  prefetch(spans: readonly ByteSpan[]): void {
    const numbers = new Set<number>()
    for (const { from, to } of spans) {
      for (let number = Math.floor(from / BLOCK); number * BLOCK < to; number++) numbers.add(number)
    }
    // The reader that needs the bytes gets the error.
    this.#load([...numbers].sort((a, b) => a - b)).catch(() => {})
  }

  async #blocks(first: number, last: number): Promise<{ number: number; bytes: Buffer }[]> {
    const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    const blocks = await this.#load(numbers)
    return numbers.map((number, i) => ({ number, bytes: blocks[i]! }))
  }

  /** The blocks with these numbers, which ascend: from local disk, or fetched. */
  async #load(numbers: readonly number[]): Promise<Buffer[]> {
    const { counts } = this.#options.cache
    const availableBlocks = await Promise.all(
      numbers.map((number) => this.#fetching.get(number) ?? this.#readLocal(number)),
    )
    const missing = numbers.filter((_, i) => availableBlocks[i] === null)
    counts.hits += numbers.length - missing.length
    counts.misses += missing.length
    for (const run of runsOf(missing.filter((number) => !this.#fetching.has(number)))) this.#fetchRun(run)
    return Promise.all(numbers.map((number, i) => availableBlocks[i] ?? this.#fetching.get(number)!))
  }

  /** Starts fetching consecutive blocks. */
  #fetchRun(numbers: readonly number[]): void {
    const first = numbers[0]!
    const fetch = this.#options.cache.fetches.run(() => this.#fetchVerified(first, numbers.length))
    for (const number of numbers) {
      const at = (number - first) * BLOCK
      const block = fetch.then((bytes) => bytes.subarray(at, at + BLOCK))
      block.catch(() => {})
      this.#fetching.set(number, block)
    }
    const done = () => {
      for (const number of numbers) this.#fetching.delete(number)
    }
    // Readers do not wait for the disk; until the bytes are there, other readers get them from memory.
    fetch.then((bytes) => this.#keep(first, bytes)).then(done, done)
  }

  async #fetchVerified(first: number, count: number, isRepeated = false): Promise<Buffer> {
    const { store, key, name, bytes: size, damaged } = this.#options
    const span = { from: first * BLOCK, to: Math.min(size, (first + count) * BLOCK) }
    const bytes = await store.read(key, span).catch((error: unknown) => {
      if (!(error instanceof ObjectMissingError)) throw error
      throw damaged(`${name} is missing or too short in the store.`, error)
    })
    for (let i = 0; i < count; i++) {
      if (this.#isIntact(first + i, bytes.subarray(i * BLOCK, (i + 1) * BLOCK))) continue
      // Bytes that were damaged on the way are right the second time.
      if (!isRepeated) return this.#fetchVerified(first, count, true)
      throw damaged(`Block ${first + i} of ${name} is damaged in the store.`)
    }
    return bytes
  }

  async #readLocal(number: number): Promise<Buffer | null> {
    const { wholePath } = this.#options
    if (this.#hasWhole) {
      const block = await this.#readFrom(wholePath, number, number * BLOCK)
      if (block) return block
      // Evicted, or never there; the blocks are then kept separately.
      this.#hasWhole = false
    }
    const path = this.#segment(number)
    return this.#readFrom(path, number, (number % SEGMENT_BLOCKS) * BLOCK)
  }

  async #readFrom(path: string, number: number, position: number): Promise<Buffer | null> {
    const handle = await open(path).catch(() => null)
    if (handle === null) return null
    try {
      const length = Math.min(BLOCK, this.#options.bytes - number * BLOCK)
      const bytes = Buffer.allocUnsafeSlow(length)
      if ((await readFully(handle, bytes, position)) < length) return null
      if (!this.#isIntact(number, bytes)) return null
      this.#options.cache.touch(path)
      return bytes
    } catch {
      // A disk that cannot be read is not a reason to fail: the store has the block.
      return null
    } finally {
      await handle.close()
    }
  }

  /** A cache that cannot be written, for example because the disk is full, only costs time. */
  async #keep(first: number, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const number = first + at / BLOCK
      const end = Math.min(bytes.length, at + (SEGMENT_BLOCKS - (number % SEGMENT_BLOCKS)) * BLOCK)
      const path = this.#segment(number)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      // Not `w`: another process may have written other blocks of this file.
      const handle = await open(path, 'r+').catch(() => open(path, 'a', 0o600).then(reopen(path)))
      try {
        await handle.write(bytes, at, end - at, (number % SEGMENT_BLOCKS) * BLOCK)
      } finally {
        await handle.close()
      }
      at = end
    }
    this.#options.cache.added(bytes.length)
  }

  #isIntact(number: number, bytes: Buffer): boolean {
    return crc32(bytes) === this.#options.blocks[number]
  }

  #segment(number: number): string {
    return join(this.#options.folder, String(Math.floor(number / SEGMENT_BLOCKS)))
  }
}

/** A file opened for appending ignores positions, so it is only used to create the file. */
function reopen(path: string) {
  return async (created: { close(): Promise<void> }) => {
    await created.close()
    return open(path, 'r+')
  }
}

/** Divides ascending numbers into runs of consecutive ones. */
function runsOf(numbers: readonly number[]): number[][] {
  const runs: number[][] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run && run.at(-1) === number - 1 && run.length < MAX_FETCH_BLOCKS) run.push(number)
    else runs.push([number])
  }
  return runs
}
