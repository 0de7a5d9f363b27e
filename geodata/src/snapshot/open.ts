import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { hashId, idCandidates } from './id-table.ts'
import { type IndexParts, readIndex, treeOf } from './index-file.ts'
import type { IndexTree } from './index-tree.ts'
import { type Manifest, readManifest, SNAPSHOT_FILES } from './manifest.ts'
import { FEATURE_HEAD, idEnd, PACK_SEPARATOR } from './pack.ts'
import { PACK_BLOCK_BYTES, type PackCache } from './pack-cache.ts'

const SEPARATOR = Buffer.from(PACK_SEPARATOR)
/** Features with no more than this between them are one read: it costs less than a second call. */
const MERGED_GAP_BYTES = 1 << 14

export class Snapshot {
  readonly folder: string
  readonly manifest: Manifest
  readonly tree: IndexTree
  /** `offsets[i]` is where feature i starts in the pack; it ends two bytes before `offsets[i + 1]`. */
  readonly offsets: Uint32Array | Float64Array
  readonly #index: IndexParts
  readonly #pack: FileHandle
  readonly #cache: PackCache | null
  readonly #packNumber: number

  constructor(
    folder: string,
    manifest: Manifest,
    index: IndexParts,
    pack: FileHandle,
    cache: PackCache | null,
  ) {
    this.folder = folder
    this.manifest = manifest
    this.#index = index
    this.offsets = index.offsets
    this.tree = treeOf(index)
    this.#pack = pack
    this.#cache = cache
    this.#packNumber = cache?.admit() ?? 0
  }

  /** The bytes of the features at positions `from` to `to` (excluded), with `,\n` between them. */
  async readPack(from: number, to: number): Promise<Buffer> {
    const end = Math.min(to, this.manifest.rows)
    if (from >= end) return Buffer.alloc(0)
    return this.readBytes(this.offsets[from]!, this.#end(end - 1))
  }

  /**
   * The features at the first `count` of these ascending positions, joined by `,\n`, as buffers to be sent one
   * after the other. Neighbours are one piece, and features a small gap apart are one read.
   */
  async readFeatures(positions: Uint32Array | number[], count = positions.length): Promise<Buffer[]> {
    const pieces: Buffer[] = []
    for (let i = 0; i < count; ) {
      let last = i
      while (last + 1 < count && this.#isNear(positions[last]!, positions[last + 1]!)) last++
      const start = this.offsets[positions[i]!]!
      const end = this.#end(positions[last]!)
      const bytes = this.#spanInMemory(start, end) ?? (await this.#span(start, end))
      for (; i <= last; i++) {
        const from = positions[i]!
        while (i < last && positions[i + 1] === positions[i]! + 1) i++
        if (pieces.length > 0) pieces.push(SEPARATOR)
        pushSlice(pieces, bytes, this.offsets[from]! - start, this.#end(positions[i]!) - start)
      }
    }
    return pieces
  }

  /** How many bytes the features at the first `count` of these positions take, with `,\n` between them. */
  featuresLength(positions: Uint32Array, count: number): number {
    const { offsets } = this
    let length = 0
    for (let i = 0; i < count; i++) length += offsets[positions[i]! + 1]! - offsets[positions[i]!]!
    return count === 0 ? 0 : length - SEPARATOR.length
  }

  /**
   * Copies what `readFeatures` would read into `target` from `at` on, without waiting, and answers where it
   * ends; -1 where not all of it is in memory. Copying spares an object for every piece, which for scattered
   * features costs more than the copy.
   */
  copyFeatures(positions: Uint32Array, count: number, target: Buffer, at: number): number {
    let end = at
    for (let i = 0; i < count; i++) {
      const from = positions[i]!
      while (i + 1 < count && positions[i + 1] === positions[i]! + 1) i++
      end = this.copyRun(from, positions[i]! + 1, target, end)
      if (end === -1) return -1
      if (i + 1 < count) end += SEPARATOR.copy(target, end)
    }
    return end
  }

  /** The same for the features at positions `from` to `to` (excluded). */
  copyRun(from: number, to: number, target: Buffer, at: number): number {
    const cache = this.#cache
    if (cache === null || from >= to) return cache === null ? -1 : at
    const stop = this.#end(to - 1)
    let end = at
    for (let start = this.offsets[from]!; start < stop; ) {
      const number = Math.floor(start / PACK_BLOCK_BYTES)
      const block = cache.peek(this.#packNumber, number)
      if (block === undefined) return -1
      const first = number * PACK_BLOCK_BYTES
      end += block.copy(target, end, start - first, stop - first)
      start = first + PACK_BLOCK_BYTES
    }
    return end
  }

  /**
   * What `copyFeatures` would copy, as at most `most` parts of the blocks in memory themselves; null where there
   * are more, or not all of it is there. A part holds the whole of its block in memory.
   */
  piecesInMemory(positions: Uint32Array, count: number, most: number): Buffer[] | null {
    const pieces: Buffer[] = []
    for (let i = 0; i < count; i++) {
      const from = positions[i]!
      while (i + 1 < count && positions[i + 1] === positions[i]! + 1) i++
      if (pieces.length >= most) return null
      // The separator after a run stands behind it in the pack.
      const end = i + 1 < count ? this.offsets[positions[i]! + 1]! : this.#end(positions[i]!)
      if (!this.#pushInMemory(pieces, this.offsets[from]!, end)) return null
    }
    return pieces
  }

  /** The same for the features at positions `from` to `to` (excluded). */
  runInMemory(from: number, to: number): Buffer[] | null {
    const pieces: Buffer[] = []
    return from >= to || this.#pushInMemory(pieces, this.offsets[from]!, this.#end(to - 1)) ? pieces : null
  }

  #pushInMemory(pieces: Buffer[], start: number, end: number): boolean {
    for (let at = start; at < end; ) {
      const number = Math.floor(at / PACK_BLOCK_BYTES)
      const block = this.#cache?.peek(this.#packNumber, number)
      if (block === undefined) return false
      at = pushBlock(pieces, block, number, at, end)
    }
    return true
  }

  /** Bytes of the pack, from one offset to another. */
  async readBytes(from: number, to: number): Promise<Buffer> {
    const pieces = await this.#span(from, to)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /** The position of the feature with this id (as it stands in a URL), or -1. */
  async findById(id: string): Promise<number> {
    const text = this.manifest.id.type === 'integer' ? id : JSON.stringify(id)
    const wanted = Buffer.from(text, 'utf8')
    const { idStarts, idPositions, offsets } = this.#index
    for (const position of idCandidates(hashId(wanted, 0, wanted.length), idStarts, idPositions)) {
      const start = offsets[position]! + FEATURE_HEAD.length
      // One byte more than the id shows whether it ends there.
      const end = Math.min(start + wanted.length + 1, this.#end(position))
      const found = await this.readBytes(start, end)
      if (idEnd(found, 0) === wanted.length && found.subarray(0, wanted.length).equals(wanted))
        return position
    }
    return -1
  }

  async close(): Promise<void> {
    this.#cache?.forget(this.#packNumber)
    await this.#pack.close()
  }

  #end(position: number): number {
    return this.offsets[position + 1]! - SEPARATOR.length
  }

  #isNear(position: number, next: number): boolean {
    return this.offsets[next]! - this.offsets[position + 1]! <= MERGED_GAP_BYTES
  }

  /** Without waiting, where all of it is in the cache. */
  #spanInMemory(from: number, to: number): Buffer[] | null {
    const cache = this.#cache
    if (cache === null) return null
    const pieces: Buffer[] = []
    for (let at = from; at < to; ) {
      const number = Math.floor(at / PACK_BLOCK_BYTES)
      const block = cache.peek(this.#packNumber, number)
      if (block === undefined) return null
      at = pushBlock(pieces, block, number, at, to)
    }
    return pieces
  }

  async #span(from: number, to: number): Promise<Buffer[]> {
    const cache = this.#cache
    if (cache === null) return [await this.#read(from, to)]
    const packBytes = this.offsets[this.manifest.rows]! - SEPARATOR.length
    const pieces: Buffer[] = []
    for (let at = from; at < to; ) {
      const number = Math.floor(at / PACK_BLOCK_BYTES)
      const block = await cache.block(this.#packNumber, number, packBytes, (a, b) => this.#read(a, b))
      at = pushBlock(pieces, block, number, at, to)
    }
    return pieces
  }

  async #read(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(to - from)
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await this.#pack.read(bytes, at, bytes.length - at, from + at)
      if (bytesRead === 0) throw new Error(`${SNAPSHOT_FILES.pack} ends too early`)
      at += bytesRead
    }
    return bytes
  }
}

/** Adds what a block holds of the bytes `at` to `to`; answers where the next block begins. */
function pushBlock(into: Buffer[], block: Buffer, number: number, at: number, to: number): number {
  const start = number * PACK_BLOCK_BYTES
  into.push(block.subarray(at - start, Math.min(block.length, to - start)))
  return start + PACK_BLOCK_BYTES
}

/** Adds the bytes `from` to `to` of what the pieces hold together. */
function pushSlice(into: Buffer[], pieces: Buffer[], from: number, to: number): void {
  let start = 0
  for (const piece of pieces) {
    const end = start + piece.length
    if (end > from && start < to)
      into.push(piece.subarray(Math.max(0, from - start), Math.min(piece.length, to - start)))
    start = end
  }
}

/**
 * Opens a snapshot's folder: the index is read whole, the pack stays on disk. With a cache, which several
 * snapshots may share, blocks of the pack that were read are kept.
 */
export async function openSnapshot(folder: string, cache: PackCache | null = null): Promise<Snapshot> {
  const manifest = await readManifest(folder)
  const index = await readIndex(join(folder, SNAPSHOT_FILES.index))
  const pack = await open(join(folder, SNAPSHOT_FILES.pack))
  return new Snapshot(folder, manifest, index, pack, cache)
}
