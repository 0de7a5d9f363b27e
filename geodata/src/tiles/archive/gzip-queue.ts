import { type CompressedTile, compressTile } from '../encode/compress-tile.ts'
import type { EncodedTile } from '../encode/tile-encoder.ts'
import type { PartitionWriter } from './partition-file.ts'

/** How many tiles may be under way, and their total size before compression. */
const MAX_TILES = 256
const MAX_BYTES = 16 << 20

interface Waiting {
  z: number
  index: number
  run: number
  size: number
  compressed: Promise<CompressedTile>
}

/**
 * Compresses tiles in libuv's threads while others are encoded, and adds them to a partition in the order
 * in which they came. Bounded: `room` waits for the oldest ones.
 */
export class GzipQueue {
  readonly #writer: PartitionWriter
  readonly #waiting: Waiting[] = []
  #bytes = 0

  constructor(writer: PartitionWriter) {
    this.#writer = writer
  }

  push(z: number, index: number, tile: EncodedTile, run: number): void {
    const compressed = compressTile(tile)
    // A failure is thrown where the tile is waited for.
    compressed.catch(() => {})
    const size = tile.bytes.length
    this.#waiting.push({ z, index, run, size, compressed })
    this.#bytes += size
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
      const { z, index, run, size, compressed } = this.#waiting[done++]!
      this.#writer.add(z, index, await compressed, run)
      this.#bytes -= size
    }
    this.#waiting.splice(0, done)
  }
}
