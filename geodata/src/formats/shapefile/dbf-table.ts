import type { Feature, FeatureStream, UnreadableRow } from '../../feature.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS, type SourceLimits } from '../reading/source-limits.ts'
import { encodingNamed } from '../reading/text/encoding.ts'
import { DbfReader } from './dbf.ts'

const BATCH_ROWS = 2000

/** Reads a dBase file that is published alone, as a table. */
export async function openDbf(
  source: ByteSource,
  options: { limits?: SourceLimits; encoding?: string } = {},
): Promise<FeatureStream> {
  const encoding = options.encoding === undefined ? null : encodingNamed(options.encoding)
  const table = await DbfReader.open(source, null, options.limits ?? DEFAULT_LIMITS, encoding)
  return {
    columns: table.columns,
    notes: table.notes,
    crs: null,
    spatial: false,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return table.window.position
    },
    async *batches() {
      try {
        yield* readRows(table)
      } finally {
        await table.window.close()
      }
    },
  }
}

async function* readRows(table: DbfReader): AsyncGenerator<(Feature | UnreadableRow)[]> {
  let batch: (Feature | UnreadableRow)[] = []
  for (let row = 1; ; row++) {
    let values = table.next()
    if (values === undefined) {
      if (!(await table.fill())) break
      values = table.next()
    }
    if (values === null || values === undefined) continue
    batch.push(
      typeof values === 'string' ? { row, problem: values } : { id: null, values, geometry: null, row },
    )
    if (batch.length === BATCH_ROWS) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
