import { hash } from 'node:crypto'
import { closeSync, openSync, rmSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { GrowingBytes } from '../../bytes/growing-bytes.ts'
import { readFullySync } from '../../bytes/read-fully.ts'
import { ByteSink } from '../../exports/byte-sink.ts'
import { partialPath, renameDurably, syncFile } from '../../write-durably.ts'
import type { CompressedTile } from '../encode/compress-tile.ts'
import { addContent, noContent, type TileContent } from '../encode/tile-content.ts'
import type { SeenProperties } from '../encode/tile-layer.ts'

/** Larger tiles are hardly ever equal. */
const MAX_SHARED_BYTES = 4096
const DIGEST_BYTES = 16
/** The length of the directory, a float64, at the end of the file. */
const TAIL_BYTES = 8

/** What the tiles of a partition are, in the order in which their gzipped bytes are in its file. */
export interface PartitionDirectory {
  zooms: Uint8Array
  /** The place of each tile along the Hilbert curve of its zoom. */
  indexes: Float64Array
  /** How many tiles in a row have these bytes. */
  runs: Uint32Array
  lengths: Uint32Array
  /** The MD5 of each tile of up to `MAX_SHARED_BYTES`. */
  digests: Uint8Array
  /** By zoom: what the tiles show. */
  contents: (TileContent | undefined)[]
  seen: SeenProperties
}

/** Writes the tiles of a partition to a file, which appears complete or not at all. */
export class PartitionWriter {
  readonly #path: string
  readonly #partial: string
  readonly #sink: ByteSink
  readonly #zooms: number[] = []
  readonly #indexes: number[] = []
  readonly #runs: number[] = []
  readonly #lengths: number[] = []
  readonly #digests = new GrowingBytes()
  readonly #contents: TileContent[] = []

  constructor(path: string) {
    this.#path = path
    this.#partial = partialPath(path, process.pid)
    this.#sink = new ByteSink(this.#partial, { hashed: false })
  }

  /** Adds a tile and the `run - 1` tiles after it. The tiles of each zoom have to arrive in ascending order. */
  add(z: number, index: number, { bytes, content }: CompressedTile, run: number): void {
    this.#zooms.push(z)
    this.#indexes.push(index)
    this.#runs.push(run)
    this.#lengths.push(bytes.length)
    if (bytes.length <= MAX_SHARED_BYTES) this.#digests.copy(hash('md5', bytes, 'buffer'), 0, DIGEST_BYTES)
    this.#contents[z] ??= noContent()
    addContent(this.#contents[z], { ...content, maxBytes: bytes.length }, run)
    this.#sink.write(bytes)
  }

  async finish(seen: SeenProperties): Promise<void> {
    const directory: PartitionDirectory = {
      zooms: Uint8Array.from(this.#zooms),
      indexes: Float64Array.from(this.#indexes),
      runs: Uint32Array.from(this.#runs),
      lengths: Uint32Array.from(this.#lengths),
      digests: new Uint8Array(this.#digests.bytes()),
      contents: this.#contents,
      seen,
    }
    const bytes = serialize(directory)
    const tail = Buffer.alloc(TAIL_BYTES)
    tail.writeDoubleLE(bytes.length)
    this.#sink.write(bytes)
    this.#sink.write(tail)
    this.#sink.close()
    await syncFile(this.#partial)
    await renameDurably(this.#partial, this.#path)
  }

  /** Removes what was written, unless it is finished. */
  abandon(): void {
    this.#sink.abandon()
    rmSync(this.#partial, { force: true })
  }
}

/** Where the bytes of a partition are: a file, or a part of one. */
export interface PartitionPlace {
  path: string
  from: number
  to: number
}

/** Where a tile is in the file of a partition. */
export interface PartitionTile {
  index: number
  run: number
  /** Its bytes in the file. */
  from: number
  to: number
  /** Equal for equal tiles; null for a tile that is too large to be compared. */
  digest: string | null
}

export class PartitionReader {
  readonly directory: PartitionDirectory
  readonly #file: number
  readonly #from: number

  constructor({ path, from, to }: PartitionPlace) {
    this.#file = openSync(path, 'r')
    this.#from = from
    try {
      const end = to - from - TAIL_BYTES
      const length = this.read(end, end + TAIL_BYTES).readDoubleLE()
      this.directory = deserialize(this.read(end - length, end)) as PartitionDirectory
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** The tiles of a zoom, in ascending order. */
  *tiles(z: number): Generator<PartitionTile> {
    const { zooms, indexes, runs, lengths, digests } = this.directory
    const texts = Buffer.from(digests.buffer, digests.byteOffset, digests.length)
    let at = 0
    let digestAt = 0
    for (let i = 0; i < zooms.length; i++) {
      const length = lengths[i]!
      const hasDigest = length <= MAX_SHARED_BYTES
      if (zooms[i] === z) {
        const digest = hasDigest ? texts.toString('latin1', digestAt, digestAt + DIGEST_BYTES) : null
        yield { index: indexes[i]!, run: runs[i]!, from: at, to: at + length, digest }
      }
      at += length
      if (hasDigest) digestAt += DIGEST_BYTES
    }
  }

  read(from: number, to: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(to - from)
    if (readFullySync(this.#file, bytes, this.#from + from) < bytes.length)
      throw new Error('the file of a partition of tiles ends too early')
    return bytes
  }

  close(): void {
    closeSync(this.#file)
  }
}
