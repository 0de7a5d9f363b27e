import { PACK_SEPARATOR, PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import type { TimedWork } from '../work/timed-work.ts'
import { PageBytes } from './page-bytes.ts'

const SEPARATOR_BYTES = PACK_SEPARATOR.length
const SEPARATOR = Buffer.from(PACK_SEPARATOR)
/** Features and bytes that are read before other requests are served. */
const BATCH_FEATURES = 512
const BATCH_BYTES = 2 << 20

/** Complete features in one buffer: feature i is from `starts[i]` to `ends[i]`. */
export interface FeatureBlock {
  bytes: Buffer
  count: number
  starts: Int32Array
  ends: Int32Array
}

/**
 * The features of a page as they are in the pack, separated by `,\n`, in buffers to be sent one after
 * another.
 */
export async function readPieces(snapshot: Snapshot, runs: PositionRuns, work: TimedWork): Promise<Buffer[]> {
  if (runs.isAscending) return snapshot.readRuns(runs)
  const { bytes, starts, ends } = await readBlock(snapshot, runs, work)
  const page = new PageBytes(bytes.length)
  for (let i = 0; i < runs.count; i++) {
    if (i > 0) page.copy(SEPARATOR)
    page.copy(bytes, starts[i], ends[i])
  }
  return [page.all()]
}

/** The same features in one block, with the offsets of each. */
export async function readBlock(
  snapshot: Snapshot,
  runs: PositionRuns,
  work: TimedWork,
): Promise<FeatureBlock> {
  const { count, isAscending } = runs
  const positions = runs.toArray()
  const order = Uint32Array.from(positions, (_, i) => i)
  if (!isAscending) order.sort((a, b) => positions[a]! - positions[b]!)
  const ascending = isAscending ? positions : Uint32Array.from(order, (i) => positions[i]!)
  const sizes = await snapshot.sizesOf(ascending)
  const bytes = await readScattered(snapshot, ascending, sizes, work)
  const block = { bytes, count, starts: new Int32Array(count), ends: new Int32Array(count) }
  let at = 0
  for (const [rank, i] of order.entries()) {
    const length = sizes[rank]! - SEPARATOR_BYTES
    block.starts[i] = at
    block.ends[i] = at + length
    at += length + SEPARATOR_BYTES
  }
  return block
}

/**
 * The features at ascending positions, separated by `,\n`. Reads in batches and yields to other requests in
 * between. `sizes` are the sizes of the features with their separators.
 */
async function readScattered(
  snapshot: Snapshot,
  positions: Uint32Array,
  sizes: Float64Array,
  work: TimedWork,
): Promise<Buffer> {
  const page = new PageBytes(sizes.reduce((sum, size) => sum + size, 0))
  for (let from = 0; from < positions.length; ) {
    if (from > 0) page.copy(SEPARATOR)
    let bytes = 0
    let to = from
    while (to < positions.length && to - from < BATCH_FEATURES && bytes < BATCH_BYTES) {
      bytes += sizes[to++]!
    }
    const runs = PositionRuns.of(positions.subarray(from, to))
    for (const piece of await snapshot.readRuns(runs)) page.copy(piece)
    from = to
    await work.next()
  }
  return page.all()
}
