import { FEATURE_HEAD, idEnd, PACK_SEPARATOR } from '../pack/pack.ts'
import {
  type CachedPack,
  type CachedPart,
  PACK_BLOCK_BYTES,
  PACK_PART_BYTES,
  type PackCache,
} from '../pack/pack-cache.ts'
import type { PositionRuns } from '../pack/position-runs.ts'
import { type BlockChecksums, readBlockChecksums } from './block-checksums.ts'
import { CheckedFile } from './checked-file.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { hashId, idBuckets } from './id-table.ts'
import { type IndexParts, readIndex } from './index-file.ts'
import type { IndexNumbers } from './index-numbers.ts'
import type { IndexTree } from './index-tree.ts'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { indexOfParts, type OpenIndex, openPagedIndex } from './open-index.ts'
import { StoredIntegers } from './paged-numbers.ts'
import { readManifest } from './read-manifest.ts'
import { type ByteSpan, folderFiles, type ReadableFile, type SnapshotFiles } from './snapshot-files.ts'

const SEPARATOR = Buffer.from(PACK_SEPARATOR)
/** Runs of features with at most this gap between them share one read, which is cheaper than two. */
const MERGED_GAP_BYTES = 1 << 14
/** Smaller indexes are read as a whole when a snapshot is opened, which takes up to 40 ms. */
const WHOLE_INDEX_BYTES = 1 << 26
/** With a smaller cache, blocks of the index would be evicted before a search has used them. */
const MIN_CACHED_BLOCKS = 64

export class Snapshot {
  readonly folder: string
  readonly files: SnapshotFiles
  readonly manifest: Manifest
  readonly tree: IndexTree
  /** The size of the pack, in bytes. */
  readonly packBytes: number
  readonly #index: OpenIndex
  readonly #offsets: IndexNumbers
  readonly #pack: CheckedFile
  /** Undefined for snapshots that were published before block checksums existed. */
  readonly packBlocks: Uint32Array | undefined
  /** Integers in other files, such as the sorted orders of columns. */
  readonly integers: StoredIntegers
  readonly #cache: PackCache | null
  readonly #cached: CachedPack | null

  constructor(
    files: SnapshotFiles,
    manifest: Manifest,
    index: OpenIndex,
    pack: ReadableFile,
    cache: PackCache | null,
    checksums: BlockChecksums | null,
  ) {
    this.folder = files.folder
    this.files = files
    this.manifest = manifest
    this.tree = index.tree
    this.packBytes = manifest.files[SNAPSHOT_FILES.pack]!.bytes
    this.packBlocks = checksums?.get(SNAPSHOT_FILES.pack)
    this.#index = index
    this.#offsets = index.offsets
    this.#pack = new CheckedFile(SNAPSHOT_FILES.pack, pack, this.packBytes, this.packBlocks)
    this.integers = new StoredIntegers(files, manifest, checksums, cache)
    this.#cache = cache
    this.#cached = cache?.admit(this.packBytes, (from, to) => this.#pack.read(from, to), files.folder) ?? null
  }

  /** The points (x, y) or boxes of all features, in snapshot order, in memory that threads can share. */
  readLeaves(): Promise<Float64Array> {
    return this.#index.readLeaves()
  }

  /** Whether the index is in memory as a whole. */
  get hasWholeIndex(): boolean {
    return this.#index.parts !== null
  }

  /** The whole index. If it is read by blocks, this reads all of it. */
  async wholeIndex(): Promise<IndexParts> {
    if (this.#index.parts) return this.#index.parts
    const name = SNAPSHOT_FILES.index
    await this.files.fetch([name])
    const checksums = await readBlockChecksums(this.folder, this.manifest)
    return readIndex(this.folder, this.manifest.files[name]!, checksums?.get(name))
  }

  /** The bytes of the features at positions `from` to `to` (exclusive), separated by `,\n`. */
  async readPack(from: number, to: number): Promise<Buffer> {
    const end = Math.min(to, this.manifest.rows)
    if (from >= end) return Buffer.alloc(0)
    const [start, stop] = [await this.#offsets.read(from), await this.#offsets.read(end)]
    return this.#readBytes(start, stop - SEPARATOR.length)
  }

  /**
   * Reads the features of the runs, joined by `,\n`, as buffers to be sent one after the other. Runs that are
   * separated by a small gap are read with one call.
   */
  async readRuns({ bounds, length }: PositionRuns): Promise<Buffer[]> {
    const pieces: Buffer[] = []
    const offsets = await this.#offsetsOf(bounds, length)
    this.#prefetch(offsets)
    for (let run = 0; run < length; ) {
      let last = run
      while (last + 1 < length && isNear(offsets[last * 2 + 1]!, offsets[last * 2 + 2]!)) last++
      const start = offsets[run * 2]!
      const end = offsets[last * 2 + 1]! - SEPARATOR.length
      const bytes = this.#inMemory(start, end) ?? (await this.#span(start, end))
      for (; run <= last; run++) {
        if (pieces.length > 0) pieces.push(SEPARATOR)
        pushSlice(pieces, bytes, offsets[run * 2]! - start, offsets[run * 2 + 1]! - SEPARATOR.length - start)
      }
    }
    return pieces
  }

  /** If the pack is in an object store, fetches all blocks of the runs at once instead of one after the other. */
  #prefetch(offsets: Float64Array): void {
    const { prefetch } = this.#pack
    if (prefetch === undefined) return
    const spans: ByteSpan[] = []
    for (let i = 0; i < offsets.length; i += 2) {
      const span = { from: offsets[i]!, to: offsets[i + 1]! - SEPARATOR.length }
      if (this.#inMemory(span.from, span.to) === null) spans.push(span)
    }
    if (spans.length > 0) prefetch(spans)
  }

  /** The size in bytes of the features of the runs, including the `,\n` between them. */
  async bytesOf(runs: PositionRuns): Promise<number> {
    const bytes = this.bytesInMemory(runs)
    if (!Number.isNaN(bytes)) return bytes
    const offsets = await this.#offsetsOf(runs.bounds, runs.length)
    let sum = -SEPARATOR.length
    for (let i = 0; i < offsets.length; i += 2) sum += offsets[i + 1]! - offsets[i]!
    return sum
  }

  /** The same without waiting; NaN if the index has to be read. */
  bytesInMemory({ bounds, length }: PositionRuns): number {
    const offsets = this.#offsets
    let bytes = 0
    for (let run = 0; run < length; run++) {
      bytes += offsets.at(bounds[run * 2 + 1]!) - offsets.at(bounds[run * 2]!)
    }
    return length === 0 ? 0 : bytes - SEPARATOR.length
  }

  /** The size of each of the features at these positions, including the `,\n` after it. */
  async sizesOf(positions: ArrayLike<number>): Promise<Float64Array> {
    const bounds = new Float64Array(positions.length * 2)
    for (let i = 0; i < positions.length; i++) {
      bounds[i * 2] = positions[i]!
      bounds[i * 2 + 1] = positions[i]! + 1
    }
    const offsets = await this.#offsetsOf(bounds, positions.length)
    return Float64Array.from(positions, (_, i) => offsets[i * 2 + 1]! - offsets[i * 2]!)
  }

  /** The offsets of the bounds of runs. */
  async #offsetsOf(bounds: ArrayLike<number>, length: number): Promise<Float64Array> {
    const offsets = new Float64Array(length * 2)
    for (let i = 0; i < offsets.length; i++) {
      const offset = this.#offsets.at(bounds[i]!)
      offsets[i] = Number.isNaN(offset) ? await this.#offsets.read(bounds[i]!) : offset
    }
    return offsets
  }

  /**
   * Copies what `readRuns` would read of the runs, in any order, into `target`, starting at `at`, without waiting.
   * Returns the end of the copied bytes, or -1 if not all that is needed is in memory. For small runs a copy is
   * cheaper than creating a Buffer object for each run.
   */
  copyRuns({ bounds, length }: PositionRuns, target: Buffer, at: number): number {
    const cached = this.#cached
    if (cached === null) return -1
    let end = at
    for (let run = 0; run < length; run++) {
      const stop = this.#stopOf(bounds[run * 2 + 1]!, run === length - 1)
      const first = this.#offsets.at(bounds[run * 2]!)
      if (Number.isNaN(first) || Number.isNaN(stop)) return -1
      for (let start = first; start < stop; ) {
        const number = Math.floor(start / PACK_PART_BYTES)
        const part = cached.peek(number)
        if (part === undefined) return -1
        const partStart = number * PACK_PART_BYTES
        end += part.bytes.copy(target, end, start - partStart, stop - partStart)
        start = partStart + PACK_PART_BYTES
      }
      // The last feature of the pack has no separator after it, but may come first in a sorted page.
      if (stop === this.packBytes && run < length - 1) end += SEPARATOR.copy(target, end)
    }
    return end
  }

  /**
   * The bytes that `copyRuns` would copy, as slices of the cached parts of the pack; null if not all of them are in
   * memory. A slice keeps its whole part in memory.
   */
  piecesInMemory({ bounds, length }: PositionRuns): Buffer[] | null {
    const pieces: Buffer[] = []
    for (let run = 0; run < length; run++) {
      const start = this.#offsets.at(bounds[run * 2]!)
      const stop = this.#stopOf(bounds[run * 2 + 1]!, run === length - 1)
      if (Number.isNaN(start) || Number.isNaN(stop) || !this.#pushInMemory(pieces, start, stop)) return null
      if (bounds[run * 2 + 1] === this.manifest.rows && run < length - 1) pieces.push(SEPARATOR)
    }
    return pieces
  }

  /** The end of a run's bytes, including the separator that follows it in the pack unless it is the last run. */
  #stopOf(end: number, isLast: boolean): number {
    const offset = this.#offsets.at(end)
    return isLast || end === this.manifest.rows ? offset - SEPARATOR.length : offset
  }

  #pushInMemory(pieces: Buffer[], start: number, end: number): boolean {
    for (let at = start; at < end; ) {
      const part = this.#cached?.peek(Math.floor(at / PACK_PART_BYTES))
      if (part === undefined) return false
      at = pushPart(pieces, part, at, end)
    }
    return true
  }

  /** Reads the bytes of the pack between two offsets. */
  async #readBytes(from: number, to: number): Promise<Buffer> {
    const pieces = await this.#span(from, to)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /** The position of the feature with this id (as it is written in a URL), or -1. */
  async findById(id: string): Promise<number> {
    const { idStarts, idPositions } = this.#index
    const idBytes = this.#idBytes(id)
    const bucket = this.#bucketOf(idBytes)
    const last = await idStarts.read(bucket + 1)
    for (let i = await idStarts.read(bucket); i < last; i++) {
      const position = await idPositions.read(i)
      const start = (await this.#offsets.read(position)) + FEATURE_HEAD.length
      const end = this.#idStop(start, idBytes, await this.#offsets.read(position + 1))
      if (isId(await this.#readBytes(start, end), idBytes)) return position
    }
    return -1
  }

  /** The same without waiting; undefined if something has to be read. */
  findByIdInMemory(id: string): number | undefined {
    const { idStarts, idPositions } = this.#index
    const idBytes = this.#idBytes(id)
    const bucket = this.#bucketOf(idBytes)
    const [first, last] = [idStarts.at(bucket), idStarts.at(bucket + 1)]
    if (Number.isNaN(first) || Number.isNaN(last)) return undefined
    for (let i = first; i < last; i++) {
      const position = idPositions.at(i)
      if (Number.isNaN(position)) return undefined
      const start = this.#offsets.at(position) + FEATURE_HEAD.length
      const end = this.#idStop(start, idBytes, this.#offsets.at(position + 1))
      const pieces = Number.isNaN(start) || Number.isNaN(end) ? null : this.#inMemory(start, end)
      if (pieces === null) return undefined
      if (isId(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), idBytes)) return position
    }
    return -1
  }

  #bucketOf(idBytes: Buffer): number {
    return hashId(idBytes, 0, idBytes.length) & (idBuckets(this.manifest.rows) - 1)
  }

  /** One byte more than the id is read, to see whether the id ends there. `next` is the offset of the next feature. */
  #idStop(start: number, idBytes: Buffer, next: number): number {
    return Math.min(start + idBytes.length + 1, next - SEPARATOR.length)
  }

  /** The id as it is in the pack. */
  #idBytes(id: string): Buffer {
    return Buffer.from(this.manifest.id.type === 'integer' ? id : JSON.stringify(id), 'utf8')
  }

  async close(): Promise<void> {
    this.#cached?.leave()
    if (this.hasWholeIndex) this.#cache?.shared?.release(indexKey(this.folder))
    await Promise.all([this.#index.close(), this.#pack.close(), this.integers.close()])
  }

  #inMemory(from: number, to: number): Buffer[] | null {
    const pieces: Buffer[] = []
    return this.#pushInMemory(pieces, from, to) ? pieces : null
  }

  async #span(from: number, to: number): Promise<Buffer[]> {
    const cached = this.#cached
    if (cached === null) return [await this.#pack.read(from, to)]
    const pieces: Buffer[] = []
    const last = Math.floor((to - 1) / PACK_PART_BYTES)
    for (let at = from; at < to; ) {
      const part = await cached.load(Math.floor(at / PACK_PART_BYTES), last)
      at = pushPart(pieces, part, at, to)
    }
    return pieces
  }
}

/** Whether runs should be read with one call: the first ends, with its separator, at `end`, the other begins at `next`. */
function isNear(end: number, next: number): boolean {
  return next >= end && next - end <= MERGED_GAP_BYTES
}

function indexKey(folder: string): string {
  return `${folder} ${SNAPSHOT_FILES.index}`
}

/** Whether bytes of the pack begin with this id, and the id ends there. */
function isId(bytes: Buffer, id: Buffer): boolean {
  return idEnd(bytes, 0) === id.length && bytes.subarray(0, id.length).equals(id)
}

/** Adds what a part of the pack has between the offsets `at` and `to`; returns the offset of the next part. */
function pushPart(into: Buffer[], { number, bytes }: CachedPart, at: number, to: number): number {
  const start = number * PACK_PART_BYTES
  into.push(bytes.subarray(at - start, Math.min(bytes.length, to - start)))
  return start + PACK_PART_BYTES
}

/** Adds the bytes `from` to `to` of the concatenated pieces, without copying. */
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
 * Opens a snapshot. A small index is read and verified as a whole; the pack and a large index stay where they are and
 * are verified block by block as they are read. With a cache, which several snapshots may share, blocks that were
 * read are kept in memory; without one, the index is read as a whole.
 *
 * `manifest` is a copy that the caller trusts more than the one in the folder, such as the catalog's. Throws
 * a DamagedSnapshotError if a file that is needed for opening does not match the manifest.
 */
export async function openSnapshot(
  source: string | SnapshotFiles,
  cache: PackCache | null = null,
  manifest?: Manifest,
  { wholeIndexBytes = WHOLE_INDEX_BYTES } = {},
): Promise<Snapshot> {
  const files = typeof source === 'string' ? folderFiles(source) : source
  const { folder } = files
  const trusted = manifest ?? (await readManifest(folder))
  const name = SNAPSHOT_FILES.index
  const expected = trusted.files[name]!
  const isSmall = expected.bytes <= wholeIndexBytes
  const opening = [SNAPSHOT_FILES.checksums, ...(isSmall ? [name] : [])]
  await files.fetch(opening.filter((file) => trusted.files[file] !== undefined))
  const checksums = await readBlockChecksums(folder, trusted)
  const blocks = checksums?.get(name)
  let index: OpenIndex
  if (!isSmall && blocks && cache && cache.maxBytes >= MIN_CACHED_BLOCKS * PACK_BLOCK_BYTES) {
    index = await openPagedIndex(await files.open(name), {
      name: indexKey(folder),
      bytes: expected.bytes,
      blocks,
      cache,
    })
  } else {
    if (!isSmall) await files.fetch([name])
    const read = () => readIndex(folder, expected, blocks)
    index = indexOfParts(await (cache?.shared ? cache.shared.load(indexKey(folder), read) : read()))
  }
  if (index.rows !== trusted.rows || index.located !== trusted.located)
    throw new DamagedSnapshotError(name, `${name} belongs to another snapshot.`)
  const pack = await files.open(SNAPSHOT_FILES.pack)
  return new Snapshot(files, trusted, index, pack, cache, checksums)
}
