import { allocateBlock } from '../bytes/allocate-block.ts'
import { readFully } from '../bytes/read-fully.ts'
import { CHECKED_BLOCK_BYTES, requireBlock } from './block-checksums.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import type { ByteSpan, ReadableFile } from './snapshot-files.ts'

/** Memory for blocks of which only a part is kept. */
const rooms: Buffer[] = []
const MAX_ROOMS = 8

/** A file of a snapshot whose blocks are verified when they are read. */
export class CheckedFile {
  readonly #name: string
  readonly #file: ReadableFile
  readonly #size: number
  readonly #blocks: Uint32Array | undefined

  /** `blocks` are the checksums of the blocks; undefined if the snapshot was published before they existed. */
  constructor(name: string, file: ReadableFile, size: number, blocks: Uint32Array | undefined) {
    this.#name = name
    this.#file = file
    this.#size = size
    this.#blocks = blocks
  }

  /** Starts fetching parts that will be read soon; undefined if the file is on local disk. */
  get prefetch(): ((spans: readonly ByteSpan[]) => void) | undefined {
    return this.#file.prefetch && ((spans) => this.#file.prefetch!(spans))
  }

  /**
   * Reads any bytes, into memory of their own. The whole blocks that they are in are read, so that they can be
   * verified.
   */
  async read(from: number, to: number): Promise<Buffer> {
    if (from >= to) return Buffer.alloc(0)
    const start = from - (from % CHECKED_BLOCK_BYTES)
    const end = Math.min(this.#size, Math.ceil(to / CHECKED_BLOCK_BYTES) * CHECKED_BLOCK_BYTES)
    if (start === from && end === to) return this.readBlocks(from, to)
    const isInRoom = end - start <= CHECKED_BLOCK_BYTES && !this.#file.readVerified
    const room = isInRoom ? (rooms.pop() ?? allocateBlock(CHECKED_BLOCK_BYTES)) : null
    try {
      const bytes = allocateBlock(to - from)
      ;(await this.#readBlocks(start, end, room)).copy(bytes, 0, from - start, to - start)
      return bytes
    } finally {
      if (room && rooms.length < MAX_ROOMS) rooms.push(room)
    }
  }

  /** Reads whole blocks. */
  async readBlocks(from: number, to: number): Promise<Buffer> {
    return this.#readBlocks(from, to, null)
  }

  /** Uses `room` if the file is on local disk. */
  async #readBlocks(from: number, to: number, room: Buffer | null): Promise<Buffer> {
    if (this.#file.readVerified) return this.#file.readVerified(from, to)
    const bytes = room ? room.subarray(0, to - from) : allocateBlock(to - from)
    if ((await readFully(this.#file, bytes, from)) < bytes.length)
      throw new DamagedSnapshotError(this.#name, `${this.#name} ends too early.`)
    if (this.#blocks === undefined) return bytes
    for (let at = 0; at < bytes.length; at += CHECKED_BLOCK_BYTES) {
      const block = bytes.subarray(at, at + CHECKED_BLOCK_BYTES)
      requireBlock(this.#name, this.#blocks, (from + at) / CHECKED_BLOCK_BYTES, block)
    }
    return bytes
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
