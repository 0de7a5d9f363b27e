import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { FastifyReply } from 'fastify'
import { PAGE_TAIL } from './geojson-page.ts'
import { type GeojsonHead, pageHeadBound, putPageHead } from './page-head-bytes.ts'
import type { Selected } from './selected.ts'

/** Pages are put together in buffers that are used again: a new one for each page costs more than the copy. */
const SIZES = [1 << 14, 1 << 17, 1 << 20, 1 << 22]
const MOST_KEPT = [32, 32, 8, 4]
const kept: Buffer[][] = SIZES.map(() => [])

/**
 * Sends a page whose features are all in memory, and answers whether it could. Nothing is awaited between the
 * look into the cache and the copy.
 */
export function sendAtOnce(
  reply: FastifyReply,
  head: GeojsonHead,
  snapshot: Snapshot,
  selected: Selected,
): boolean {
  const { positions, first, count } = selected
  const { offsets } = snapshot
  const features =
    first >= 0
      ? count === 0
        ? 0
        : offsets[first + count]! - offsets[first]!
      : snapshot.featuresLength(positions, count)
  const size = pageHeadBound(head) + features + PAGE_TAIL.length
  const shelf = SIZES.findIndex((most) => size <= most)
  const buffer =
    (shelf === -1 ? undefined : kept[shelf]!.pop()) ?? Buffer.allocUnsafeSlow(SIZES[shelf] ?? size)
  const start = putPageHead(head, buffer)
  const end =
    first >= 0
      ? snapshot.copyRun(first, first + count, buffer, start)
      : snapshot.copyFeatures(positions, count, buffer, start)
  if (end === -1) {
    giveBack(shelf, buffer)
    return false
  }
  const length = end + PAGE_TAIL.copy(buffer, end)
  // Not at `close`: a connection that broke may still hold the buffer.
  if (shelf !== -1) reply.raw.once('finish', () => giveBack(shelf, buffer))
  reply.send(buffer.subarray(0, length))
  return true
}

function giveBack(shelf: number, buffer: Buffer): void {
  const buffers = kept[shelf]
  if (buffers && buffers.length < MOST_KEPT[shelf]!) buffers.push(buffer)
}
