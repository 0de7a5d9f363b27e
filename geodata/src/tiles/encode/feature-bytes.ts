import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { CHECKED_BLOCK_BYTES, requireBlock } from '../../snapshot/block-checksums.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'

/** The bytes of features: after `seek`, the feature lies in `bytes` from `start` to `end`. */
export interface FeatureBytes {
  bytes: Buffer
  start: number
  end: number
  seek(position: number): void
}

/** The `,\n` after a feature. */
const SEPARATOR_BYTES = 2
const BLOCK_BYTES = 1 << 20
const MAX_BLOCKS = 96

/**
 * The features of a pack on disk, read synchronously through an LRU cache of blocks: for a process that does
 * nothing else.
 */
export class PackFile implements FeatureBytes {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  end = 0
  readonly #file: number
  readonly #offsets: Uint32Array | Float64Array
  /** In LRU order, least recently used first. */
  readonly #blocks = new Map<number, Buffer>()
  #last = -1
  #joined = Buffer.alloc(0)
  readonly #checksums: Uint32Array | undefined

  /** With `checksums`, which are those of the snapshot, each block is verified when it is read. */
  constructor(folder: string, offsets: Uint32Array | Float64Array, checksums?: Uint32Array) {
    this.#file = openSync(join(folder, SNAPSHOT_FILES.pack), 'r')
    this.#offsets = offsets
    this.#checksums = checksums
  }

  seek(position: number): void {
    const from = this.#offsets[position]!
    const to = this.#offsets[position + 1]! - SEPARATOR_BYTES
    const block = Math.floor(from / BLOCK_BYTES)
    const lastBlock = Math.floor((to - 1) / BLOCK_BYTES)
    if (block === lastBlock) {
      this.bytes = this.#block(block)
      this.start = from - block * BLOCK_BYTES
      this.end = to - block * BLOCK_BYTES
      return
    }
    if (this.#joined.length < to - from) this.#joined = Buffer.allocUnsafeSlow((to - from) * 2)
    let at = 0
    for (let number = block; number <= lastBlock; number++) {
      const first = number * BLOCK_BYTES
      at += this.#block(number).copy(this.#joined, at, Math.max(0, from - first), to - first)
    }
    this.bytes = this.#joined
    this.start = 0
    this.end = to - from
  }

  close(): void {
    closeSync(this.#file)
  }

  #block(number: number): Buffer {
    const present = this.#blocks.get(number)
    if (present !== undefined) {
      if (number !== this.#last) {
        this.#blocks.delete(number)
        this.#blocks.set(number, present)
        this.#last = number
      }
      return present
    }
    let buffer: Buffer | undefined
    if (this.#blocks.size >= MAX_BLOCKS) {
      const [oldest] = this.#blocks
      this.#blocks.delete(oldest![0])
      buffer = oldest![1]
    }
    if (buffer?.length !== BLOCK_BYTES) buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES)
    const packBytes = this.#offsets[this.#offsets.length - 1]! - SEPARATOR_BYTES
    const from = number * BLOCK_BYTES
    const to = Math.min(packBytes, from + BLOCK_BYTES)
    this.#read(buffer, from, to)
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

  #read(buffer: Buffer, from: number, to: number): void {
    for (let at = 0; at < to - from; ) {
      const count = readSync(this.#file, buffer, at, to - from - at, from + at)
      if (count === 0)
        throw new DamagedSnapshotError(SNAPSHOT_FILES.pack, `${SNAPSHOT_FILES.pack} ends too early.`)
      at += count
    }
  }
}
