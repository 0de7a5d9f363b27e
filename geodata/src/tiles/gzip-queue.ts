import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PmtilesWriter } from './pmtiles-writer.ts'

const gzipAsync = promisify(gzip)

/** How many tiles may be under way, and their total size before compression. */
const MAX_TILES = 256
const MAX_BYTES = 16 << 20

interface Waiting {
  z: number
  index: number
  run: number
  size: number
  compressed: Promise<Buffer>
  written: (compressed: Buffer) => void
}

/**
 * Compresses tiles in libuv's threads while others are encoded, and adds them to the archive in the order in
 * which they came. Bounded: `room` waits for the oldest ones.
 */
export class GzipQueue {
  readonly #writer: PmtilesWriter
  readonly #waiting: Waiting[] = []
  #bytes = 0

  constructor(writer: PmtilesWriter) {
    this.#writer = writer
  }

  push(
    z: number,
    index: number,
    bytes: Buffer,
    written: (compressed: Buffer) => void,
    run = 1,
  ): Promise<Buffer> {
    const compressed = gzipAsync(bytes)
    // A failure is thrown where the tile is waited for.
    compressed.catch(() => {})
    this.#waiting.push({ z, index, run, size: bytes.length, compressed, written })
    this.#bytes += bytes.length
    return compressed
  }

  /** Whether `room` has to be awaited before more is pushed. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_TILES || this.#bytes >= MAX_BYTES
  }

  async room(): Promise<void> {
    await this.#drain(MAX_TILES / 2, MAX_BYTES / 2)
  }

  async finish(): Promise<void> {
    await this.#drain(0, 0)
  }

  async #drain(tiles: number, bytes: number): Promise<void> {
    let done = 0
    while (this.#waiting.length - done > tiles || this.#bytes > bytes) {
      const { z, index, run, size, compressed, written } = this.#waiting[done++]!
      const tile = await compressed
      this.#writer.add(z, index, tile, run)
      this.#bytes -= size
      written(tile)
    }
    this.#waiting.splice(0, done)
  }
}
