import type { FeatureStream } from '../feature.ts'
import type { Transformer } from '../geometry/prepare-geometry.ts'
import { SourceError } from '../source-error.ts'
import type { CompileOptions, CompileProgress } from './compile.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { Stage, type StageSummary } from './stage.ts'

export interface Staged {
  summary: StageSummary
  crs: string | null
  notes: string[]
}

export const DEFAULT_MAX_ROWS = 100_000_000
/** Wide rows fill a chunk before their number does. */
const FLUSH_BYTES = 1 << 24

/** Reads a source to its end and stages its rows, in this thread. */
export async function stageStream(
  stream: FeatureStream,
  options: CompileOptions,
  folder: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
): Promise<Staged> {
  const crs = options.crs ?? stream.crs
  const stage = new Stage({ folder, prefix: 'rows', transform: await transformerFor(crs) })
  const maxRows = options.limits?.rows ?? DEFAULT_MAX_ROWS
  const file = options.file ?? options.path
  let rows = 0
  let flushedAt = 0
  try {
    for await (const batch of stream.batches()) {
      signal?.throwIfAborted()
      rows += batch.length
      if (rows > maxRows) throw new SourceError(`${file} has more than ${maxRows} rows.`)
      stage.add(batch, stream.columns, (index) => `column${index}`)
      if (stream.bytesRead - flushedAt > FLUSH_BYTES) {
        stage.flush()
        flushedAt = stream.bytesRead
      }
      onProgress({ phase: 'reading', rows, bytesRead: stream.bytesRead, totalBytes: stream.totalBytes })
    }
  } catch (error) {
    throw withProblems(error, file, stage.summary)
  }
  stage.flush()
  return { summary: stage.summary, crs, notes: [...stream.notes, ...crsNotes(crs, stage.summary)] }
}

/** A file that breaks off usually went wrong earlier: the rows say where. */
export function withProblems(error: unknown, file: string, summary: StageSummary): unknown {
  if (!(error instanceof SourceError) || summary.problemCount === 0) return error
  const last = { row: summary.problems.at(-1)!.row, message: error.message }
  return new InvalidSourceError(file, [...summary.problems.slice(0, 9), last], summary.problemCount + 1)
}

export async function transformerFor(crs: string | null): Promise<Transformer | null> {
  if (crs === null || crs === 'OGC:CRS84') return null
  // The list of reference systems is large: most sources do without.
  const { transformerToWgs84 } = await import('../crs.ts')
  return transformerToWgs84(crs)
}

export function crsNotes(crs: string | null, summary: StageSummary): string[] {
  return crs === null && summary.hasGeometry
    ? ['The file does not state its CRS; its coordinates were taken as WGS84.']
    : []
}
