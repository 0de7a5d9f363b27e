import type { CrsTransformation } from '../../crs/crs-accuracy.ts'
import type { FeatureStream } from '../../feature.ts'
import { limitsOf } from '../../formats/reading/source-limits.ts'
import { blockRows, isBlockStream } from '../../formats/source-blocks.ts'
import { isEmptyBbox } from '../../geometry/bbox.ts'
import { describeChanges } from '../../geometry/geometry-changes.ts'
import { SourceError } from '../../source-error.ts'
import type { CompileOptions, CompileProgress } from '../compile-options.ts'
import { withRowProblems } from '../invalid-source-error.ts'
import { DEFAULT_MAX_ROWS } from '../limits.ts'
import {
  areaNotesFor,
  crsName,
  refuseInaccurate,
  statedCrs,
  transformationFor,
  transformerFor,
} from '../transformer-for.ts'
import { openStager } from './block-stager.ts'
import type { ExpansionBound } from './expansion-limit.ts'
import { Stage, type StageSummary } from './stage.ts'
import { stageInThreads } from './stage-in-threads.ts'

export interface Staged {
  summary: StageSummary
  crs: string | null
  crsTransformation: CrsTransformation | null
  notes: string[]
}

/** Smaller files are read in less time than it takes to start threads. */
const PARALLEL_BYTES = 1 << 24

/** Reads and stages all rows: large GeoJSON, CSV or Parquet in several threads, the rest in this one. */
export async function stageStream(
  stream: FeatureStream,
  bound: ExpansionBound,
  options: CompileOptions,
  folder: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
): Promise<Staged> {
  const crs = sourceCrs(options, stream)
  if (!options.allowInaccurateCrs) await refuseInaccurate(crs, null)
  const isLarge = (stream.totalBytes ?? Infinity) > PARALLEL_BYTES
  const summary =
    isBlockStream(stream) && isLarge
      ? await stageInThreads(stream, crs, bound, options, folder, onProgress, signal)
      : await stageHere(stream, crs, bound, options, folder, onProgress, signal)
  return describeStaged(stream, crs, summary, options)
}

/** The CRS of a source: the one that the publisher chose, otherwise the one that it states. */
export function sourceCrs(
  options: Pick<CompileOptions, 'crs'>,
  { crs }: Pick<FeatureStream, 'crs'>,
): string | null {
  return options.crs ?? statedCrs(crs)
}

/** What all rows together say about the source. Refuses coordinates that cannot be transformed as accurately as needed. */
export async function describeStaged(
  stream: Pick<FeatureStream, 'notes'>,
  crs: string | null,
  summary: StageSummary,
  options: Pick<CompileOptions, 'allowInaccurateCrs'>,
): Promise<Staged> {
  const bbox = isEmptyBbox(summary.places.bbox) ? null : summary.places.bbox
  if (bbox && !options.allowInaccurateCrs) await refuseInaccurate(crs, bbox)
  return {
    summary,
    crs: await crsName(crs),
    crsTransformation: bbox && (await transformationFor(crs, bbox)),
    notes: [
      ...stream.notes,
      ...crsNotes(crs, summary),
      ...(await areaNotesFor(crs, bbox)),
      ...describeChanges(summary.changes),
      ...orderNotes(crs, summary),
    ],
  }
}

async function stageHere(
  stream: FeatureStream,
  crs: string | null,
  bound: ExpansionBound,
  options: CompileOptions,
  folder: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
): Promise<StageSummary> {
  const transform = await transformerFor(crs)
  const stage = new Stage({
    folder,
    prefix: 'rows',
    transform,
    idColumn: options.idColumn,
    maxProblems: options.maxProblems,
    bound,
    maxRowBytes: limitsOf(options.limits).rowBytes,
  })
  const maxRows = options.limits?.rows ?? DEFAULT_MAX_ROWS
  const { file } = bound
  let rows = 0
  const count = (more: number) => {
    signal?.throwIfAborted()
    rows += more
    if (rows > maxRows) throw new SourceError(`${file} has more than ${maxRows} rows.`)
    onProgress({ phase: 'reading', rows, bytesRead: stream.bytesRead, totalBytes: stream.totalBytes })
  }
  try {
    if (isBlockStream(stream)) {
      const stager = await openStager(stream.parsing, stage)
      try {
        for await (const block of stream.blocks()) {
          count(blockRows(block))
          await stager.take(block)
        }
      } finally {
        stager.close()
      }
    } else {
      for await (const batch of stream.batches()) {
        count(batch.length)
        stage.add(batch, stream.columns, (index) => `column${index}`)
      }
    }
    stage.finish()
  } catch (error) {
    throw withRowProblems(error, file, stage.summary)
  }
  return stage.summary
}

function crsNotes(crs: string | null, summary: StageSummary): string[] {
  return crs === null && summary.places.hasGeometry
    ? ['The file does not state its CRS; its coordinates were taken as WGS84.']
    : []
}

/** Fewer features may all be in the sea, or on land if their axes are exchanged, by chance. */
const MIN_ORDER_SAMPLE = 3

/** A note if longitude and latitude seem to be exchanged in a file whose format has longitude first. */
function orderNotes(crs: string | null, { places }: StageSummary): string[] {
  const { sampled, onLand, onLandExchanged } = places.orders
  const isLongitudeFirst = crs === null || crs === 'OGC:CRS84'
  const areExchanged = onLand <= sampled / 2 && onLandExchanged >= sampled * 0.98
  return isLongitudeFirst && sampled >= MIN_ORDER_SAMPLE && areExchanged
    ? [
        'Most features lie in the sea or in Antarctica, and all would lie on land if longitude and latitude were exchanged. If the file has them in the wrong order, exchange them there, and publish again.',
      ]
    : []
}
