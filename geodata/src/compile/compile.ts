import { mkdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { FeatureStream } from '../feature.ts'
import type { SourceLimits } from '../formats/reading/source-limits.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { RowProblem } from '../source-error.ts'
import { syncFolder } from '../write-durably.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import type { StageSummary } from './stage/stage.ts'
import { stageStream } from './stage/stage-stream.ts'

/** What a source may ask of us, beside the limits of its reader. */
export interface CompileLimits extends Partial<SourceLimits> {
  rows?: number
}

export interface CompileOptions {
  /** The source file. */
  path: string
  /** The file's name for reports and the manifest, where `path` is a temporary one. */
  file?: string
  /** The name of a format in the table of formats; recognised by the file itself where absent. */
  format?: string
  layer?: string
  /** Overrides what the file says about its CRS. */
  crs?: string
  /** Publish although the CRS cannot be brought to WGS84 within 20 m. */
  allowInaccurateCrs?: boolean
  idColumn?: string
  timeColumn?: string
  /** Publish the rows that are valid and report the others, instead of publishing nothing. */
  skipInvalid?: boolean
  /** Whether to write a sample; there is one unless this is false. */
  sample?: boolean
  limits?: CompileLimits
  /** The folder that the snapshot's files are written to; made where it does not exist. */
  folder: string
  /** Memory for the database, in megabytes. */
  memoryMegabytes?: number
  threads?: number
}

export type CompilePhase = 'reading' | 'sorting' | 'indexing'

export interface CompileProgress {
  phase: CompilePhase
  rows: number
  bytesRead: number
  totalBytes: number | null
}

/** What was found, for the publisher. */
export interface CompileReport {
  rows: number
  /** Rows that were left out, with the first ten reasons. */
  skipped: number
  problems: RowProblem[]
  geometryTypes: Manifest['geometryTypes']
  bbox: Manifest['bbox']
  timeColumn: Manifest['timeColumn']
  timeExtent: [string, string] | null
  crs: string | null
  /** The datum transformation to WGS84 with its accuracy in metres; null if the CRS is WGS84's own. */
  crsTransformation: CrsTransformation | null
  columns: Manifest['columns']
  notes: string[]
}

export interface Compiled {
  manifest: Manifest
  report: CompileReport
}

/** A source that is opened already, for those who have features in another form than a file. */
export interface OpenSource {
  stream: FeatureStream
  format: string
  bytes: number
}

/**
 * Compiles a source into a snapshot. Where the source is invalid it throws a SourceError (with its problems, an
 * InvalidSourceError) and leaves nothing behind in the folder; the manifest is written last, so a folder that
 * has one is whole.
 */
export async function compileSnapshot(
  options: CompileOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
  source?: OpenSource,
): Promise<Compiled> {
  const staging = join(options.folder, 'staging')
  await mkdir(staging, { recursive: true })
  try {
    const opened = source ?? (await openPath(options, staging))
    const file = options.file ?? basename(options.path)
    const { summary, crs, crsTransformation, notes } = await stageStream(
      opened.stream,
      options,
      staging,
      onProgress,
      signal,
    )
    refuseInvalid(file, summary, options.skipInvalid === true)
    const compiled = await buildSnapshot({
      options,
      staging,
      summary,
      spatial: opened.stream.spatial || summary.places.hasGeometry,
      source: { file, format: opened.format, crs, crsTransformation, bytes: opened.bytes },
      notes,
      onPhase: (phase) =>
        onProgress({ phase, rows: summary.rows, bytesRead: opened.bytes, totalBytes: opened.bytes }),
      signal,
    })
    await rm(staging, { recursive: true, force: true })
    // All files are synced already; this is for their names.
    await syncFolder(options.folder)
    return compiled
  } catch (error) {
    await rm(options.folder, { recursive: true, force: true })
    throw error
  }
}

function refuseInvalid(file: string, summary: StageSummary, skipInvalid: boolean): void {
  if (summary.problemCount > 0 && !skipInvalid)
    throw new InvalidSourceError(file, summary.problems, summary.problemCount)
  if (summary.problemCount > 0 && summary.rows === 0)
    throw new InvalidSourceError(file, summary.problems, summary.problemCount)
}

async function openPath(options: CompileOptions, staging: string): Promise<OpenSource> {
  const { path, file, format, layer, crs, limits } = options
  const { openSource } = await import('../formats/index.ts')
  const stream = await openSource(path, {
    originalName: file,
    scratchFolder: staging,
    format,
    layer,
    crs,
    limits,
  })
  return { stream, format: stream.format, bytes: (await stat(path)).size }
}
