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
 * `features.index`, little-endian. Its layout allows opening it with one read and a few typed arrays over it:
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

/** Creates the typed arrays of all parts over one buffer: a new one to be filled, or one that was read. */
export function layIndex(shape: IndexShape, buffer?: ArrayBufferLike): IndexParts {
  const { rows, located, isPoints, narrow } = shape
  const leafNumbers = located * (isPoints ? 2 : 4)
  const nodeNumbers = treeNodeNumbers(located)
  const leavesAt = HEAD_NUMBERS * 8
  const nodesAt = leavesAt + leafNumbers * 8
  const offsetsAt = nodesAt + nodeNumbers * 8
  const startsAt = offsetsAt + (rows + 1) * (narrow ? 4 : 8)
  const buckets = idBuckets(rows)
  const positionsAt = startsAt + (buckets + 1) * 4
  const size = positionsAt + rows * 4
  const bytes = buffer ?? new ArrayBuffer(size)
  if (bytes.byteLength !== size) throw new Error('the index is not as long as its head says')
  if (buffer === undefined)
    new Float64Array(bytes, 0, HEAD_NUMBERS).set([MAGIC, rows, located, isPoints ? 1 : 0, narrow ? 1 : 0])
  return {
    rows,
    located,
    isPoints,
    leaves: new Float64Array(bytes, leavesAt, leafNumbers),
    nodes: new Float64Array(bytes, nodesAt, nodeNumbers),
    offsets: narrow
      ? new Uint32Array(bytes, offsetsAt, rows + 1)
      : new Float64Array(bytes, offsetsAt, rows + 1),
    idStarts: new Uint32Array(bytes, startsAt, buckets + 1),
    idPositions: new Uint32Array(bytes, positionsAt, rows),
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
    const [magic, rows, located, isPoints, narrow] = new Float64Array(bytes.buffer, 0, HEAD_NUMBERS)
    if (magic !== MAGIC)
      throw new DamagedSnapshotError(name, `${name} has a layout that this program does not read.`)
    const shape = { rows: rows!, located: located!, isPoints: isPoints === 1, narrow: narrow === 1 }
    return layIndex(shape, bytes.buffer)
  } finally {
    await handle.close()
  }
}

export function treeOf(parts: IndexParts): IndexTree {
  return new IndexTree(parts.leaves, parts.isPoints, parts.nodes)
}
