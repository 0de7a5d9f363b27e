import { GzipQueue } from '../archive/gzip-queue.ts'
import type { PartitionWriter } from '../archive/partition-file.ts'
import type { EncodedTile } from '../encode/tile-encoder.ts'
import type { TileSource } from './tile-source.ts'

export interface TileBuildDeps {
  source: TileSource
  writer: PartitionWriter
  /** Called with the share of the partition that is done, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** The build of a partition: what it reads, and the tiles it writes. */
export class TileBuild {
  readonly source: TileSource
  readonly #queue: GzipQueue
  readonly #onProgress: ((share: number) => void) | undefined
  readonly #signal: AbortSignal | undefined

  constructor({ source, writer, onProgress, signal }: TileBuildDeps) {
    this.source = source
    this.#queue = new GzipQueue(writer)
    this.#onProgress = onProgress
    this.#signal = signal
  }

  /** Adds a tile, and the `run - 1` tiles after it with the same bytes. A tile without features is left out. */
  add(z: number, index: number, tile: EncodedTile, run = 1): void {
    if (tile.bytes.length > 0) this.#queue.push(z, index, tile, run)
  }

  get isFull(): boolean {
    return this.#queue.isFull
  }

  async room(): Promise<void> {
    this.#signal?.throwIfAborted()
    await this.#queue.room()
  }

  progress(share: number): void {
    this.#onProgress?.(share)
  }

  async finish(): Promise<void> {
    await this.#queue.finish()
  }
}
