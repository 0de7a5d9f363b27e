import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import { PACK_SEPARATOR } from '@wayleave/geodata/snapshot/pack.ts'
import { PageBytes } from './page-bytes.ts'
import { positionAt, type Selected } from './selected.ts'
import { Turns } from './take-turns.ts'

const SEPARATOR_BYTES = PACK_SEPARATOR.length
const SEPARATOR = Buffer.from(PACK_SEPARATOR)
const AT_ONCE = 512

/** Whole features in one buffer: feature i lies from `starts[i]` to `ends[i]`. */
export interface FeatureBlock {
  bytes: Buffer
  count: number
  starts: Int32Array
  ends: Int32Array
}

/** The features of a page as the pack has them, separated by `,\n`, in buffers to be sent one after another. */
export async function readPieces(snapshot: Snapshot, selected: Selected): Promise<Buffer[]> {
  const { positions, first, count, ascending } = selected
  if (count === 0) return []
  if (first >= 0) return [await snapshot.readPack(first, first + count)]
  if (ascending) return snapshot.readFeatures(positions, count)
  const { bytes, starts, ends } = await readBlock(snapshot, selected)
  const page = new PageBytes(bytes.length)
  for (let i = 0; i < count; i++) {
    if (i > 0) page.copy(SEPARATOR)
    page.copy(bytes, starts[i], ends[i])
  }
  return [page.all()]
}

/** The same, to be taken apart. */
export async function readBlock(snapshot: Snapshot, selected: Selected): Promise<FeatureBlock> {
  const { count, ascending, first } = selected
  const order = Array.from({ length: count }, (_, i) => i)
  const positions = Uint32Array.from(order, (i) => positionAt(selected, i))
  if (!ascending) order.sort((a, b) => positions[a]! - positions[b]!)
  const bytes =
    first >= 0
      ? await snapshot.readPack(first, first + count)
      : await readScattered(
          snapshot,
          Uint32Array.from(order, (i) => positions[i]!),
        )
  const block = { bytes, count, starts: new Int32Array(count), ends: new Int32Array(count) }
  let at = 0
  for (const i of order) {
    const position = positions[i]!
    const length = snapshot.offsets[position + 1]! - snapshot.offsets[position]! - SEPARATOR_BYTES
    block.starts[i] = at
    block.ends[i] = at + length
    at += length + SEPARATOR_BYTES
  }
  return block
}

/** The features at ascending positions, with `,\n` between them, read in turns. */
async function readScattered(snapshot: Snapshot, positions: Uint32Array): Promise<Buffer> {
  const page = new PageBytes(snapshot.featuresLength(positions, positions.length))
  const turns = new Turns()
  for (let from = 0; from < positions.length; from += AT_ONCE) {
    if (from > 0) page.copy(SEPARATOR)
    for (const piece of await snapshot.readFeatures(positions.subarray(from, from + AT_ONCE)))
      page.copy(piece)
    await turns.next()
  }
  return page.all()
}
