import { geojsonParts } from '@wayleave/geodata/exports'
import { PACK_SEPARATOR, PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { PageBytes, readBlock, readPieces, type TimedWork } from '@wayleave/query'
import type { ItemsQuery } from '../request/items-query.ts'
import { csvWriter } from '../write/csv-page.ts'

/** Rows and bytes of the pack that are read and written at once; the client's backpressure acts between them. */
const CHUNK_ROWS = 2000
const CHUNK_BYTES = 1 << 20

/** The rows as one GeoJSON FeatureCollection, in the bytes of the pack. */
export async function* geojsonChunks(
  snapshot: Snapshot,
  runs: PositionRuns,
  work: TimedWork,
): AsyncGenerator<Buffer> {
  // The members of the collection are those of the GeoJSON download; the box would be that of all rows.
  const { head, tail } = geojsonParts({ ...snapshot.manifest, bbox: null })
  yield head
  let isFirst = true
  for await (const chunk of chunksOf(snapshot, runs)) {
    if (!isFirst) yield Buffer.from(PACK_SEPARATOR)
    isFirst = false
    yield* await readPieces(snapshot, chunk, work)
    await work.next()
  }
  yield tail
}

/** The rows as CSV, like pages of features and the CSV download. */
export async function* csvChunks(
  snapshot: Snapshot,
  runs: PositionRuns,
  { crs, shown }: ItemsQuery,
  escapeFormulas: boolean,
  work: TimedWork,
): AsyncGenerator<Buffer> {
  const writer = csvWriter({ manifest: snapshot.manifest, crs, shown, escapeFormulas })
  yield Buffer.from(writer.head)
  for await (const chunk of chunksOf(snapshot, runs)) {
    const block = await readBlock(snapshot, chunk, work)
    const page = new PageBytes(block.bytes.length + 1024)
    await work.each(block.count, (i) => writer.writeRow(page, block, i))
    yield page.all()
  }
}

/** Divides a selection into parts of limited size, in its order. */
async function* chunksOf(snapshot: Snapshot, runs: PositionRuns): AsyncGenerator<PositionRuns> {
  const positions = runs.toArray()
  for (let from = 0; from < positions.length; ) {
    const some = positions.subarray(from, from + CHUNK_ROWS)
    const sizes = await snapshot.sizesOf(some)
    let bytes = 0
    let count = 0
    while (count < some.length && bytes < CHUNK_BYTES) bytes += sizes[count++]!
    yield PositionRuns.of(some.subarray(0, count))
    from += count
  }
}
