import { mkdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { FeatureStream } from '../feature.ts'
import type { GdalOptions } from '../formats/gdal/gdal-options.ts'
import { type ReadOptions, readOptionsOf } from '../formats/reading/read-options.ts'
import type { SourceLimits } from '../formats/reading/source-limits.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { type RowProblem, SourceError } from '../source-error.ts'
import { syncFolder } from '../write-durably.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import type { StageSummary } from './stage/stage.ts'
import { stageStream } from './stage/stage-stream.ts'

/** Limits for a source, in addition to those of its reader. */
export interface CompileLimits extends Partial<SourceLimits> {
  rows?: number
}

export interface CompileOptions extends ReadOptions {
  path: string
  /** The file name for reports and the manifest, if `path` is a temporary file. */
  file?: string
  /** The name of a format in the table of formats; detected from the file if absent. */
  format?: string
  layer?: string
  /** Overrides the CRS that the file states. */
  crs?: string
  /** Publish even if the CRS cannot be transformed to WGS84 within 20 m. */
  allowInaccurateCrs?: boolean
  idColumn?: string
  timeColumn?: string
  /** Publish the valid rows and report the others, instead of rejecting the source. */
  skipInvalid?: boolean
  /** Whether to write a sample; true by default. */
  sample?: boolean
  limits?: CompileLimits
  /** How many of the rows that cannot be published are listed; 10 by default. */
  maxProblems?: number
  /** How to run GDAL for formats without a reader of our own. */
  gdal?: GdalOptions
  /** The folder for the snapshot's files; created if it does not exist. */
  folder: string
  /** The memory limit of the database, in megabytes. */
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

/** The report for the publisher. */
export interface CompileReport {
  rows: number
  /** The number of rows that were skipped; `problems` has the first reasons. */
  skipped: number
  problems: RowProblem[]
  geometryTypes: Manifest['geometryTypes']
  bbox: Manifest['bbox']
  timeColumn: Manifest['timeColumn']
  timeExtent: [string, string] | null
  crs: string | null
  /** The datum transformation to WGS84 with its accuracy in metres; null if the CRS is already WGS84. */
  crsTransformation: CrsTransformation | null
  columns: Manifest['columns']
  notes: string[]
}

export interface Compiled {
  manifest: Manifest
  report: CompileReport
}

/** A source that is already open, for callers whose features are not in a file. */
export interface OpenSource {
  stream: FeatureStream
  format: string
  bytes: number
}

/**
 * Compiles a source into a snapshot. If the source is invalid, it throws a SourceError (an InvalidSourceError
 * if there are row problems) and removes the folder. The manifest is written last, so a folder with a
 * manifest is complete.
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
    if (summary.rows === 0 && source === undefined) throw new SourceError(`${file} has no rows.`)
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
    // All files are already synced; syncing the folder makes their names durable.
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
  const { path, file, format, layer, crs, limits, gdal } = options
  const { openSource } = await import('../formats/index.ts')
  const stream = await openSource(path, {
    originalName: file,
    scratchFolder: staging,
    format,
    layer,
    crs,
    limits,
    gdal,
    ...readOptionsOf(options),
  })
  return { stream, format: stream.format, bytes: (await stat(path)).size }
}
