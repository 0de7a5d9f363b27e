import { createHash } from 'node:crypto'
import { readFully } from '../bytes/read-fully.ts'
import { BlockCheck } from './block-checksums.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { idBuckets } from './id-table.ts'
import { IndexTree, treeNodeNumbers } from './index-tree.ts'
import { SNAPSHOT_FILES } from './manifest.ts'
import { openFile } from './snapshot-files.ts'
import { wrongSize } from './verify.ts'

/**
 * `features.index`, little-endian. A small one is read as a whole, with a few typed arrays over it; of a large one,
 * only the blocks that searches need are read, see open-index.ts.
 *
 * | part | numbers |
 * |---|---|
 * | head | 8 float64: magic, rows, located, 1 if all are points, 1 if offsets are 32 bits wide, 0, 0, 0 |
 * | leaves | located × (x, y) or located × (west, south, east, north), float64 |
 * | nodes | the inner nodes of the tree, float64 |
 * | offsets | rows + 1 offsets into the pack, float64, or uint32 while the pack is below 4 GB |
 * | ids | bucket starts, then positions, uint32 |
 */
export const MAGIC = 0x574c_4958_0001
export const HEAD_NUMBERS = 8
/** Hashing this much with SHA-256 takes a few milliseconds. */
const READ_BYTES = 1 << 20

export interface IndexParts {
  rows: number
  located: number
  isPoints: boolean
  leaves: Float64Array
  nodes: Float64Array
  /** `offsets[i]` is the offset of feature i; `offsets[rows]` is where the next feature would start. */
  offsets: Uint32Array | Float64Array
  idStarts: Uint32Array
  idPositions: Uint32Array
  bytes: Uint8Array
}

export interface IndexShape {
  rows: number
  located: number
  isPoints: boolean
  /** Whether every offset into the pack fits into 32 bits. */
  narrow: boolean
}

/** Where the parts are in the file, in bytes, and how many numbers they have. */
export function indexLayout({ rows, located, isPoints, narrow }: IndexShape) {
  const leafNumbers = located * (isPoints ? 2 : 4)
  const nodeNumbers = treeNodeNumbers(located)
  const leavesAt = HEAD_NUMBERS * 8
  const nodesAt = leavesAt + leafNumbers * 8
  const offsetsAt = nodesAt + nodeNumbers * 8
  const startsAt = offsetsAt + (rows + 1) * (narrow ? 4 : 8)
  const buckets = idBuckets(rows)
  const positionsAt = startsAt + (buckets + 1) * 4
  const size = positionsAt + rows * 4
  return { leavesAt, leafNumbers, nodesAt, nodeNumbers, offsetsAt, startsAt, buckets, positionsAt, size }
}

/** Creates the typed arrays of all parts over one buffer: a new one to be filled, or one that was read. */
export function layIndex(shape: IndexShape, buffer?: ArrayBufferLike): IndexParts {
  const { rows, located, isPoints, narrow } = shape
  const { leafNumbers, nodeNumbers, buckets, ...at } = indexLayout(shape)
  const bytes = buffer ?? new ArrayBuffer(at.size)
  if (bytes.byteLength !== at.size) throw new Error('the index is not as long as its head says')
  if (buffer === undefined)
    new Float64Array(bytes, 0, HEAD_NUMBERS).set([MAGIC, rows, located, isPoints ? 1 : 0, narrow ? 1 : 0])
  return {
    rows,
    located,
    isPoints,
    leaves: new Float64Array(bytes, at.leavesAt, leafNumbers),
    nodes: new Float64Array(bytes, at.nodesAt, nodeNumbers),
    offsets: narrow
      ? new Uint32Array(bytes, at.offsetsAt, rows + 1)
      : new Float64Array(bytes, at.offsetsAt, rows + 1),
    idStarts: new Uint32Array(bytes, at.startsAt, buckets + 1),
    idPositions: new Uint32Array(bytes, at.positionsAt, rows),
    bytes: new Uint8Array(bytes),
  }
}

/**
 * Reads the whole index and verifies it meanwhile, in steps short enough for a server's event loop: by its
 * block checksums, or by the SHA-256 in the manifest if there are none. It is in memory that threads can share.
 */
export async function readIndex(
  folder: string,
  expected: { bytes: number; sha256: string },
  blocks: Uint32Array | undefined,
): Promise<IndexParts> {
  const name = SNAPSHOT_FILES.index
  const handle = await openFile(folder, name)
  try {
    const { size } = await handle.stat()
    if (size !== expected.bytes) throw wrongSize(name, size, expected.bytes)
    const bytes = new Uint8Array(new SharedArrayBuffer(size))
    const check = blocks ? new BlockCheck(name, blocks) : null
    const sha256 = check ? null : createHash('sha256')
    for (let at = 0; at < size; at += READ_BYTES) {
      const part = bytes.subarray(at, at + READ_BYTES)
      if ((await readFully(handle, part, at)) < part.length)
        throw new DamagedSnapshotError(name, `${name} ends too early.`)
      check?.update(part)
      sha256?.update(part)
    }
    check?.finish()
    if (sha256 && sha256.digest('hex') !== expected.sha256)
      throw new DamagedSnapshotError(name, `${name} has another checksum than the manifest says.`)
    return layIndex(shapeOf(new Float64Array(bytes.buffer, 0, HEAD_NUMBERS)), bytes.buffer)
  } finally {
    await handle.close()
  }
}

/** The shape that the head of an index says. */
export function shapeOf([magic, rows, located, isPoints, narrow]: Float64Array): IndexShape {
  if (magic !== MAGIC) {
    const name = SNAPSHOT_FILES.index
    throw new DamagedSnapshotError(name, `${name} has a layout that this program does not read.`)
  }
  return { rows: rows!, located: located!, isPoints: isPoints === 1, narrow: narrow === 1 }
}

export function treeOf(parts: IndexParts): IndexTree {
  return IndexTree.of(parts.leaves, parts.isPoints, parts.nodes)
}
