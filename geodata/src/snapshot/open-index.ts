import { allocateBlock } from '../bytes/allocate-block.ts'
import { PACK_BLOCK_BYTES, type PackCache } from '../pack/pack-cache.ts'
import { CheckedFile } from './checked-file.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { HEAD_NUMBERS, type IndexParts, indexLayout, shapeOf, treeOf } from './index-file.ts'
import { DOUBLES, INTEGERS, IndexNumbers, type NumberArray, type NumberFormat } from './index-numbers.ts'
import { IndexTree } from './index-tree.ts'
import { SNAPSHOT_FILES } from './manifest.ts'
import type { ReadableFile } from './snapshot-files.ts'
import { wrongSize } from './verify.ts'

/** The last blocks of the nodes of a tree, which have its upper levels, stay in memory: a megabyte. */
const PINNED_BLOCKS = 4
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

/**
 * Opens an index by blocks: only its head and the upper levels of its tree are read, whatever its size. Other blocks
 * share the cache of the packs. Throws a DamagedSnapshotError.
 */
export async function openPagedIndex(
  file: ReadableFile,
  bytes: number,
  blocks: Uint32Array,
  cache: PackCache,
): Promise<OpenIndex> {
  try {
    return await readHead(file, bytes, blocks, cache)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readHead(
  file: ReadableFile,
  bytes: number,
  blocks: Uint32Array,
  cache: PackCache,
): Promise<OpenIndex> {
  const name = SNAPSHOT_FILES.index
  const { size } = await file.stat()
  if (size !== bytes) throw wrongSize(name, size, bytes)
  const checked = new CheckedFile(name, file, bytes, blocks)
  const shape = shapeOf(DOUBLES.view(await copied(checked, 0, HEAD_NUMBERS * 8)))
  const { rows, located, isPoints, narrow } = shape
  const at = indexLayout(shape)
  if (at.size !== bytes) throw new DamagedSnapshotError(name, `${name} is not as long as its head says.`)
  const part = <A extends NumberArray>(
    start: number,
    end: number,
    { bytes: numberBytes, view }: NumberFormat<A>,
    width = 1,
    pinned: (A | undefined)[] = [],
  ) => {
    const shift = Math.log2(PACK_BLOCK_BYTES / (numberBytes * width))
    const cached = cache.admit(end - start, (from, to) => copied(checked, start + from, start + to))
    return new IndexNumbers<A>({ width, shift }, pinned, cached, view)
  }
  const leaves = part(at.leavesAt, at.nodesAt, DOUBLES, isPoints ? 2 : 4)
  const upperNodes = await readLastBlocks(checked, at.nodesAt, at.offsetsAt)
  const nodes = part(at.nodesAt, at.offsetsAt, DOUBLES, 4, upperNodes)
  const offsets = part<NumberArray>(at.offsetsAt, at.startsAt, narrow ? INTEGERS : DOUBLES)
  const idStarts = part(at.startsAt, at.positionsAt, INTEGERS)
  const idPositions = part(at.positionsAt, at.size, INTEGERS)
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

/** Reads bytes into memory of their own: blocks of parts do not begin where the blocks of the file do. */
async function copied(file: CheckedFile, from: number, to: number): Promise<Buffer> {
  const block = allocateBlock(to - from)
  ;(await file.read(from, to)).copy(block)
  return block
}

/** The last blocks of a part, with one read; those before them are undefined. */
async function readLastBlocks(file: CheckedFile, start: number, end: number): Promise<Float64Array[]> {
  const blocks: Float64Array[] = []
  const count = Math.ceil((end - start) / PACK_BLOCK_BYTES)
  const first = Math.max(0, count - PINNED_BLOCKS)
  const bytes = await file.read(start + first * PACK_BLOCK_BYTES, end)
  for (let block = first; block < count; block++) {
    const at = (block - first) * PACK_BLOCK_BYTES
    const copy = allocateBlock(Math.min(PACK_BLOCK_BYTES, bytes.length - at))
    bytes.copy(copy, 0, at)
    blocks[block] = DOUBLES.view(copy)
  }
  return blocks
}

async function readDoubles(file: CheckedFile, start: number, end: number): Promise<Float64Array> {
  const bytes = new Uint8Array(new SharedArrayBuffer(end - start))
  for (let at = start; at < end; at += READ_BYTES)
    bytes.set(await file.read(at, Math.min(end, at + READ_BYTES)), at - start)
  return new Float64Array(bytes.buffer)
}
