import { PACK_BLOCK_BYTES, PACK_PART_BYTES, type PackCache } from '../pack/pack-cache.ts'
import { CheckedFile } from './checked-file.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { HEAD_NUMBERS, type IndexParts, indexLayout, shapeOf, treeOf } from './index-file.ts'
import { DOUBLES, INTEGERS, IndexNumbers, type NumberArray } from './index-numbers.ts'
import { IndexTree } from './index-tree.ts'
import { SNAPSHOT_FILES } from './manifest.ts'
import { pagedNumbers } from './paged-numbers.ts'
import type { ReadableFile } from './snapshot-files.ts'
import { wrongSize } from './verify.ts'

/** The last nodes of a tree, which are its upper levels, stay in memory: a megabyte. */
const PINNED_PARTS = (1 << 20) / PACK_PART_BYTES
/** Leaves are read in parts of this size if all of them are needed. */
const READ_BYTES = PACK_BLOCK_BYTES * 16

/** The index of an open snapshot, whose blocks are in memory or are read when they are needed. */
export interface OpenIndex {
  rows: number
  located: number
  tree: IndexTree
  /** Item i is the offset of feature i in the pack; it ends two bytes before item i + 1. */
  offsets: IndexNumbers
  idStarts: IndexNumbers<Uint32Array>
  idPositions: IndexNumbers<Uint32Array>
  /** The whole index; null if it is read by blocks. */
  parts: IndexParts | null
  /** The points or boxes of all features, in memory that threads can share. */
  readLeaves(): Promise<Float64Array>
  close(): Promise<void>
}

/** An index that was read as a whole. */
export function indexOfParts(parts: IndexParts): OpenIndex {
  return {
    rows: parts.rows,
    located: parts.located,
    tree: treeOf(parts),
    offsets: IndexNumbers.whole<NumberArray>(parts.offsets, 1),
    idStarts: IndexNumbers.whole(parts.idStarts, 1),
    idPositions: IndexNumbers.whole(parts.idPositions, 1),
    parts,
    readLeaves: async () => parts.leaves,
    close: async () => {},
  }
}

interface PagedIndex {
  /** Tells its blocks from those of all other files. */
  name: string
  bytes: number
  /** The checksums of its blocks. */
  blocks: Uint32Array
  cache: PackCache
}

/**
 * Opens an index by blocks: only its head and the upper levels of its tree are read, whatever its size. Other blocks
 * share the cache of the packs. Throws a DamagedSnapshotError.
 */
export async function openPagedIndex(file: ReadableFile, paged: PagedIndex): Promise<OpenIndex> {
  try {
    return await readHead(file, paged)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readHead(file: ReadableFile, paged: PagedIndex): Promise<OpenIndex> {
  const { bytes, blocks, cache } = paged
  const name = SNAPSHOT_FILES.index
  const { size } = await file.stat()
  if (size !== bytes) throw wrongSize(name, size, bytes)
  const checked = new CheckedFile(name, file, bytes, blocks)
  const shape = shapeOf(DOUBLES.view(await checked.read(0, HEAD_NUMBERS * 8)))
  const { rows, located, isPoints, narrow } = shape
  const at = indexLayout(shape)
  if (at.size !== bytes) throw new DamagedSnapshotError(name, `${name} is not as long as its head says.`)
  const paging = { checked, cache, key: paged.name }
  const leaves = pagedNumbers(paging, [at.leavesAt, at.nodesAt], DOUBLES, isPoints ? 2 : 4)
  const upperNodes = await readLastParts(checked, at.nodesAt, at.offsetsAt)
  const nodes = pagedNumbers(paging, [at.nodesAt, at.offsetsAt], DOUBLES, 4, upperNodes)
  const offsets = pagedNumbers<NumberArray>(paging, [at.offsetsAt, at.startsAt], narrow ? INTEGERS : DOUBLES)
  const idStarts = pagedNumbers(paging, [at.startsAt, at.positionsAt], INTEGERS)
  const idPositions = pagedNumbers(paging, [at.positionsAt, at.size], INTEGERS)
  return {
    rows,
    located,
    tree: new IndexTree(located, isPoints, leaves, nodes),
    offsets,
    idStarts,
    idPositions,
    parts: null,
    readLeaves: () => readDoubles(checked, at.leavesAt, at.nodesAt),
    close: async () => {
      for (const numbers of [leaves, nodes, offsets, idStarts, idPositions]) numbers.close()
      await checked.close()
    },
  }
}

/** The last parts of some numbers, with one read; those before them are undefined. */
async function readLastParts(file: CheckedFile, start: number, end: number): Promise<Float64Array[]> {
  const parts: Float64Array[] = []
  const count = Math.ceil((end - start) / PACK_PART_BYTES)
  const first = Math.max(0, count - PINNED_PARTS)
  const bytes = await file.read(start + first * PACK_PART_BYTES, end)
  for (let part = first; part < count; part++) {
    const at = (part - first) * PACK_PART_BYTES
    parts[part] = DOUBLES.view(bytes.subarray(at, at + PACK_PART_BYTES))
  }
  return parts
}

async function readDoubles(file: CheckedFile, start: number, end: number): Promise<Float64Array> {
  const bytes = new Uint8Array(new SharedArrayBuffer(end - start))
  for (let at = start; at < end; at += READ_BYTES)
    bytes.set(await file.read(at, Math.min(end, at + READ_BYTES)), at - start)
  return new Float64Array(bytes.buffer)
}
