import { CHECKED_BLOCK_BYTES, requireBlock } from '../../snapshot/block-checksums.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import type { SyncFile } from '../../snapshot/sync-file.ts'

/** The bytes of features: after `seek`, the feature lies in `bytes` from `start` to `end`. */
export interface FeatureBytes {
  bytes: Buffer
  start: number
  end: number
  seek(position: number): void
  /** Starts fetching features that will be read soon, if that takes long. */
  prefetch?(positions: ArrayLike<number>): void
}

/** The `,\n` after a feature. */
const SEPARATOR_BYTES = 2
/** What is read at once. A file in a bucket needs a request for each block. */
const BLOCK_BYTES = 1 << 20
const MAX_BLOCKS = 96
const MAX_PREFETCHED = 32
const MEGABYTE = 1 << 20

/** Where the features of a pack are. */
export interface PackOffsets {
  rows: number
  /** Where feature `position` begins; for `rows`, where one more would begin. */
  at(position: number): number
}

export function packOffsets(offsets: Uint32Array | Float64Array): PackOffsets {
  return { rows: offsets.length - 1, at: (position) => offsets[position]! }
}

interface PackFileOptions {
  checksums?: Uint32Array | undefined
  /** A multiple of the size of the blocks that have checksums. */
  blockBytes?: number
  maxBlocks?: number
}

/**
 * The features of a pack, read synchronously through an LRU cache of blocks: for a process or thread that does
 * nothing else.
 */
export class PackFile implements FeatureBytes {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  end = 0
  readonly #source: SyncFile
  readonly #offsets: PackOffsets
  /** In LRU order, least recently used first. */
  readonly #blocks = new Map<number, Buffer>()
  #last = -1
  #joined = Buffer.alloc(0)
  readonly #checksums: Uint32Array | undefined
  readonly #blockBytes: number
  readonly #maxBlocks: number

  /** With `checksums`, which are those of the snapshot, each block is verified when it is read. */
  constructor(
    source: SyncFile,
    offsets: PackOffsets,
    { checksums, blockBytes = BLOCK_BYTES, maxBlocks = MAX_BLOCKS }: PackFileOptions = {},
  ) {
    this.#source = source
    this.#offsets = offsets
    this.#checksums = checksums
    this.#blockBytes = blockBytes
    this.#maxBlocks = maxBlocks
  }

  seek(position: number): void {
    const from = this.#offsets.at(position)
    const to = this.#offsets.at(position + 1) - SEPARATOR_BYTES
    const block = Math.floor(from / this.#blockBytes)
    const lastBlock = Math.floor((to - 1) / this.#blockBytes)
    if (block === lastBlock) {
      this.bytes = this.#block(block)
      this.start = from - block * this.#blockBytes
      this.end = to - block * this.#blockBytes
      return
    }
    if (this.#joined.length < to - from) this.#joined = Buffer.allocUnsafeSlow((to - from) * 2)
    let at = 0
    for (let number = block; number <= lastBlock; number++) {
      const first = number * this.#blockBytes
      at += this.#block(number).copy(this.#joined, at, Math.max(0, from - first), to - first)
    }
    this.bytes = this.#joined
    this.start = 0
    this.end = to - from
  }

  /** Starts fetching the blocks of features that will be read soon, unless they are too many to be kept. */
  prefetch(positions: ArrayLike<number>): void {
    if (this.#source.prefetch === undefined) return
    const missing = new Set<number>()
    for (let i = 0; i < positions.length; i++) {
      const to = this.#offsets.at(positions[i]! + 1)
      for (
        let block = Math.floor(this.#offsets.at(positions[i]!) / this.#blockBytes);
        block * this.#blockBytes < to;
        block++
      )
        if (!this.#blocks.has(block)) missing.add(block)
      if (missing.size > MAX_PREFETCHED) return
    }
    this.#source.prefetch(
      Array.from(missing, (block) => ({
        from: block * this.#blockBytes,
        to: Math.min(this.#bytes, (block + 1) * this.#blockBytes),
      })),
    )
  }

  /** Whether the features lie in at most `max` megabytes of the pack. */
  areWithinMegabytes(positions: readonly number[], max: number): boolean {
    const megabytes = new Set<number>()
    for (const position of positions) {
      megabytes.add(Math.floor(this.#offsets.at(position) / MEGABYTE))
      if (megabytes.size > max) return false
    }
    return true
  }

  close(): void {
    this.#source.close()
  }

  get #bytes(): number {
    return this.#offsets.at(this.#offsets.rows) - SEPARATOR_BYTES
  }

  #block(number: number): Buffer {
    const cachedBlock = this.#blocks.get(number)
    if (cachedBlock !== undefined) {
      if (number !== this.#last) {
        this.#blocks.delete(number)
        this.#blocks.set(number, cachedBlock)
        this.#last = number
      }
      return cachedBlock
    }
    let buffer: Buffer | undefined
    if (this.#blocks.size >= this.#maxBlocks) {
      const [oldest] = this.#blocks
      this.#blocks.delete(oldest![0])
      buffer = oldest![1]
    }
    if (buffer?.length !== this.#blockBytes) buffer = Buffer.allocUnsafeSlow(this.#blockBytes)
    const from = number * this.#blockBytes
    const to = Math.min(this.#bytes, from + this.#blockBytes)
    this.#source.read(buffer, from, to)
    this.#check(buffer.subarray(0, to - from), from)
    this.#blocks.set(number, buffer)
    this.#last = number
    return buffer
  }

  #check(bytes: Buffer, from: number): void {
    if (this.#checksums === undefined) return
    for (let at = 0; at < bytes.length; at += CHECKED_BLOCK_BYTES) {
      const block = bytes.subarray(at, at + CHECKED_BLOCK_BYTES)
      requireBlock(SNAPSHOT_FILES.pack, this.#checksums, (from + at) / CHECKED_BLOCK_BYTES, block)
    }
  }
}
