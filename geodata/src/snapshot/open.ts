import { readFully } from '../bytes/read-fully.ts'
import { FEATURE_HEAD, idEnd, PACK_SEPARATOR } from '../pack/pack.ts'
import { type CachedPack, PACK_BLOCK_BYTES, type PackCache } from '../pack/pack-cache.ts'
import type { PositionRuns } from '../pack/position-runs.ts'
import { allocateBytes } from '../shared-loads.ts'
import { type BlockChecksums, readBlockChecksums, requireBlock } from './block-checksums.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { hashId, idCandidates } from './id-table.ts'
import { type IndexParts, readIndex, treeOf } from './index-file.ts'
import type { IndexTree } from './index-tree.ts'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { readManifest } from './read-manifest.ts'
import { type ByteSpan, folderFiles, type ReadableFile, type SnapshotFiles } from './snapshot-files.ts'

const SEPARATOR = Buffer.from(PACK_SEPARATOR)
/** Runs of features with at most this gap between them share one read, which is cheaper than two. */
const MERGED_GAP_BYTES = 1 << 14
/** The files that are read whole when a snapshot is opened. */
const OPENING_FILES = [SNAPSHOT_FILES.checksums, SNAPSHOT_FILES.index]

export class Snapshot {
  readonly folder: string
  readonly files: SnapshotFiles
  readonly manifest: Manifest
  readonly tree: IndexTree
  /** `offsets[i]` is the offset of feature i in the pack; it ends two bytes before `offsets[i + 1]`. */
  readonly offsets: Uint32Array | Float64Array
  readonly index: IndexParts
  readonly #pack: ReadableFile
  readonly #packBytes: number
  /** Undefined for snapshots that were published before block checksums existed. */
  readonly packBlocks: Uint32Array | undefined
  readonly #cache: PackCache | null
  readonly #cached: CachedPack | null

  constructor(
    files: SnapshotFiles,
    manifest: Manifest,
    index: IndexParts,
    pack: ReadableFile,
    cache: PackCache | null,
    checksums: BlockChecksums | null,
  ) {
    this.folder = files.folder
    this.files = files
    this.manifest = manifest
    this.index = index
    this.offsets = index.offsets
    this.tree = treeOf(index)
    this.#pack = pack
    this.#packBytes = this.#endOf(manifest.rows)
    this.packBlocks = checksums?.get(SNAPSHOT_FILES.pack)
    this.#cache = cache
    this.#cached =
      cache?.admit(this.#packBytes, (from, to) => this.#readBlocks(from, to), files.folder) ?? null
  }

  /** The bytes of the features at positions `from` to `to` (exclusive), separated by `,\n`. */
  async readPack(from: number, to: number): Promise<Buffer> {
    const end = Math.min(to, this.manifest.rows)
    if (from >= end) return Buffer.alloc(0)
    return this.readBytes(this.offsets[from]!, this.#endOf(end))
  }

  /**
   * Reads the features of the runs, joined by `,\n`, as buffers to be sent one after the other. Runs that are
   * separated by a small gap are read with one call.
   */
  async readRuns({ bounds, length }: PositionRuns): Promise<Buffer[]> {
    const pieces: Buffer[] = []
    this.#prefetch({ bounds, length })
    for (let run = 0; run < length; ) {
      let last = run
      while (last + 1 < length && this.#isNear(bounds[last * 2 + 1]!, bounds[last * 2 + 2]!)) last++
      const start = this.offsets[bounds[run * 2]!]!
      const end = this.#endOf(bounds[last * 2 + 1]!)
      const bytes = this.#inMemory(start, end) ?? (await this.#span(start, end))
      for (; run <= last; run++) {
        if (pieces.length > 0) pieces.push(SEPARATOR)
        const [from, to] = [this.offsets[bounds[run * 2]!]!, this.#endOf(bounds[run * 2 + 1]!)]
        pushSlice(pieces, bytes, from - start, to - start)
      }
    }
    return pieces
  }

  /** If the pack is in an object store, fetches all blocks of the runs at once instead of one after the other. */
  #prefetch({ bounds, length }: Pick<PositionRuns, 'bounds' | 'length'>): void {
    if (this.#pack.prefetch === undefined) return
    const spans: ByteSpan[] = []
    for (let run = 0; run < length; run++) {
      const span = { from: this.offsets[bounds[run * 2]!]!, to: this.#endOf(bounds[run * 2 + 1]!) }
      if (this.#inMemory(span.from, span.to) === null) spans.push(span)
    }
    if (spans.length > 0) this.#pack.prefetch(spans)
  }

  /** The size in bytes of the features of the runs, including the `,\n` between them. */
  bytesOf({ bounds, length }: PositionRuns): number {
    let bytes = 0
    for (let run = 0; run < length; run++) {
      bytes += this.offsets[bounds[run * 2 + 1]!]! - this.offsets[bounds[run * 2]!]!
    }
    return length === 0 ? 0 : bytes - SEPARATOR.length
  }

  /**
   * Copies what `readRuns` would read of the runs, in any order, into `target`, starting at `at`, without waiting.
   * Returns the end of the copied bytes, or -1 if not all of them are in memory. For small runs a copy is
   * cheaper than creating a Buffer object for each run.
   */
  copyRuns({ bounds, length }: PositionRuns, target: Buffer, at: number): number {
    const cached = this.#cached
    if (cached === null) return -1
    let end = at
    for (let run = 0; run < length; run++) {
      const stop = this.#stopOf(bounds[run * 2 + 1]!, run === length - 1)
      for (let start = this.offsets[bounds[run * 2]!]!; start < stop; ) {
        const number = Math.floor(start / PACK_BLOCK_BYTES)
        const block = cached.peek(number)
        if (block === undefined) return -1
        const first = number * PACK_BLOCK_BYTES
        end += block.copy(target, end, start - first, stop - first)
        start = first + PACK_BLOCK_BYTES
      }
      // The last feature of the pack has no separator after it, but may come first in a sorted page.
      if (stop === this.#packBytes && run < length - 1) end += SEPARATOR.copy(target, end)
    }
    return end
  }

  /**
   * The bytes that `copyRuns` would copy, as slices of the cached blocks; null if not all blocks are in
   * memory. A slice keeps its whole block in memory.
   */
  piecesInMemory({ bounds, length }: PositionRuns): Buffer[] | null {
    const pieces: Buffer[] = []
    for (let run = 0; run < length; run++) {
      const start = this.offsets[bounds[run * 2]!]!
      if (!this.#pushInMemory(pieces, start, this.#stopOf(bounds[run * 2 + 1]!, run === length - 1))) {
        return null
      }
      if (bounds[run * 2 + 1] === this.manifest.rows && run < length - 1) pieces.push(SEPARATOR)
    }
    return pieces
  }

  /** The end of a run's bytes, including the separator that follows it in the pack unless it is the last run. */
  #stopOf(end: number, isLast: boolean): number {
    return isLast || end === this.manifest.rows ? this.#endOf(end) : this.offsets[end]!
  }

  #pushInMemory(pieces: Buffer[], start: number, end: number): boolean {
    for (let at = start; at < end; ) {
      const number = Math.floor(at / PACK_BLOCK_BYTES)
      const block = this.#cached?.peek(number)
      if (block === undefined) return false
      at = pushBlock(pieces, block, number, at, end)
    }
    return true
  }

  /** Reads the bytes of the pack between two offsets. */
  async readBytes(from: number, to: number): Promise<Buffer> {
    const pieces = await this.#span(from, to)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /** The position of the feature with this id (as it is written in a URL), or -1. */
  async findById(id: string): Promise<number> {
    const idBytes = this.#idBytes(id)
    const { idStarts, idPositions, offsets } = this.index
    for (const position of idCandidates(hashId(idBytes, 0, idBytes.length), idStarts, idPositions)) {
      const start = offsets[position]! + FEATURE_HEAD.length
      // Read one byte more than the id to see whether the id ends there.
      const end = Math.min(start + idBytes.length + 1, this.#endOf(position + 1))
      if (isId(await this.readBytes(start, end), idBytes)) return position
    }
    return -1
  }

  /** The same without waiting; undefined if something has to be read. */
  findByIdInMemory(id: string): number | undefined {
    const idBytes = this.#idBytes(id)
    const { idStarts, idPositions, offsets } = this.index
    for (const position of idCandidates(hashId(idBytes, 0, idBytes.length), idStarts, idPositions)) {
      const start = offsets[position]! + FEATURE_HEAD.length
      const end = Math.min(start + idBytes.length + 1, this.#endOf(position + 1))
      const pieces = this.#inMemory(start, end)
      if (pieces === null) return undefined
      if (isId(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), idBytes)) return position
    }
    return -1
  }

  /** The id as it is in the pack. */
  #idBytes(id: string): Buffer {
    return Buffer.from(this.manifest.id.type === 'integer' ? id : JSON.stringify(id), 'utf8')
  }

  async close(): Promise<void> {
    this.#cached?.leave()
    this.#cache?.shared?.release(indexKey(this.folder))
    await this.#pack.close()
  }

  /** The offset at which the feature before position `end` ends. */
  #endOf(end: number): number {
    return this.offsets[end]! - SEPARATOR.length
  }

  /** Whether a run that ends at `end` and one that begins at `next` should be read with one call. */
  #isNear(end: number, next: number): boolean {
    return next >= end && this.offsets[next]! - this.offsets[end]! <= MERGED_GAP_BYTES
  }

  #inMemory(from: number, to: number): Buffer[] | null {
    const pieces: Buffer[] = []
    return this.#pushInMemory(pieces, from, to) ? pieces : null
  }

  async #span(from: number, to: number): Promise<Buffer[]> {
    const cached = this.#cached
    if (cached === null) return [await this.#readChecked(from, to)]
    const pieces: Buffer[] = []
    for (let at = from; at < to; ) {
      const number = Math.floor(at / PACK_BLOCK_BYTES)
      const block = await cached.block(number)
      at = pushBlock(pieces, block, number, at, to)
    }
    return pieces
  }

  /** Reads a range that is not aligned to blocks; whole blocks are read so that they can be verified. */
  async #readChecked(from: number, to: number): Promise<Buffer> {
    if (from >= to) return Buffer.alloc(0)
    const start = from - (from % PACK_BLOCK_BYTES)
    const end = Math.min(this.#packBytes, Math.ceil(to / PACK_BLOCK_BYTES) * PACK_BLOCK_BYTES)
    return (await this.#readBlocks(start, end)).subarray(from - start, to - start)
  }

  /** Reads whole blocks and verifies the checksum of each. */
  async #readBlocks(from: number, to: number): Promise<Buffer> {
    if (this.#pack.readVerified) return this.#pack.readVerified(from, to)
    const bytes = await this.#read(from, to)
    if (this.packBlocks === undefined) return bytes
    for (let at = 0; at < bytes.length; at += PACK_BLOCK_BYTES) {
      const block = bytes.subarray(at, at + PACK_BLOCK_BYTES)
      requireBlock(SNAPSHOT_FILES.pack, this.packBlocks, (from + at) / PACK_BLOCK_BYTES, block)
    }
    return bytes
  }

  async #read(from: number, to: number): Promise<Buffer> {
    const bytes = allocateBytes(to - from, (this.#cache?.shared ?? null) !== null)
    if ((await readFully(this.#pack, bytes, from)) < bytes.length)
      throw new DamagedSnapshotError(SNAPSHOT_FILES.pack, `${SNAPSHOT_FILES.pack} ends too early.`)
    return bytes
  }
}

function indexKey(folder: string): string {
  return `${folder} ${SNAPSHOT_FILES.index}`
}

/** Whether bytes of the pack begin with this id, and the id ends there. */
function isId(bytes: Buffer, id: Buffer): boolean {
  return idEnd(bytes, 0) === id.length && bytes.subarray(0, id.length).equals(id)
}

/** Adds the part of a block between the offsets `at` and `to`; returns the offset of the next block. */
function pushBlock(into: Buffer[], block: Buffer, number: number, at: number, to: number): number {
  const start = number * PACK_BLOCK_BYTES
  into.push(block.subarray(at - start, Math.min(block.length, to - start)))
  return start + PACK_BLOCK_BYTES
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
 * Opens a snapshot. The index is read and verified as a whole; the pack stays where it is and is verified
 * block by block as it is read. With a cache, which several snapshots may share, blocks that were
 * read are kept in memory.
 *
 * `manifest` is a copy that the caller trusts more than the one in the folder, such as the catalog's. Throws
 * a DamagedSnapshotError if a file that is needed for opening does not match the manifest.
 */
export async function openSnapshot(
  source: string | SnapshotFiles,
  cache: PackCache | null = null,
  manifest?: Manifest,
): Promise<Snapshot> {
  const files = typeof source === 'string' ? folderFiles(source) : source
  const { folder } = files
  const trusted = manifest ?? (await readManifest(folder))
  await files.fetch(OPENING_FILES.filter((file) => trusted.files[file] !== undefined))
  const checksums = await readBlockChecksums(folder, trusted)
  const name = SNAPSHOT_FILES.index
  const read = () => readIndex(folder, trusted.files[name]!, checksums?.get(name))
  const index = await (cache?.shared ? cache.shared.load(indexKey(folder), read) : read())
  if (index.rows !== trusted.rows || index.located !== trusted.located)
    throw new DamagedSnapshotError(name, `${name} belongs to another snapshot.`)
  const pack = await files.open(SNAPSHOT_FILES.pack)
  return new Snapshot(files, trusted, index, pack, cache, checksums)
}
