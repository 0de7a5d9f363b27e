import type { IndexTree } from '../../snapshot/index-tree.ts'
import { GzipQueue } from '../archive/gzip-queue.ts'
import type { PmtilesWriter } from '../archive/pmtiles-writer.ts'
import type { FeatureBytes } from '../encode/feature-bytes.ts'
import { addContent, noContent, type TileContent } from '../encode/tile-content.ts'
import type { EncodedTile, TileEncoder } from '../encode/tile-encoder.ts'

export interface TileBuildDeps {
  tree: IndexTree
  offsets: Uint32Array | Float64Array
  encoder: TileEncoder
  source: FeatureBytes
  writer: PmtilesWriter
  /** The deepest zoom that may be built. */
  zoomLimit: number
  /** Called with the share that is done, from 0 to 1. */
  onProgress?: (share: number) => void
  signal?: AbortSignal
}

/** What a build decides for all tiles. */
export interface BuiltZooms {
  /** The deepest zoom. */
  maxZoom: number
  /** See `cellZoomOf`. Absent if each tile decides for itself, which those of lines and polygons do. */
  cellZoom?: number
}

/** A build under way: what it reads, the archive it writes, and what its tiles show. */
export class TileBuild {
  readonly tree: IndexTree
  readonly offsets: Uint32Array | Float64Array
  readonly encoder: TileEncoder
  readonly source: FeatureBytes
  readonly zoomLimit: number
  /** By zoom. */
  readonly contents: TileContent[] = []
  readonly #queue: GzipQueue
  readonly #onProgress: ((share: number) => void) | undefined
  readonly #signal: AbortSignal | undefined

  constructor(parts: TileBuildDeps) {
    this.tree = parts.tree
    this.offsets = parts.offsets
    this.encoder = parts.encoder
    this.source = parts.source
    this.zoomLimit = parts.zoomLimit
    this.#queue = new GzipQueue(parts.writer, (z, run, content, bytes) => {
      this.contents[z] ??= noContent()
      addContent(this.contents[z], { ...content, maxBytes: bytes }, run)
    })
    this.#onProgress = parts.onProgress
    this.#signal = parts.signal
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
