import { mkdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { FeatureStream } from '../feature.ts'
import { readOptionsOf } from '../formats/reading/read-options.ts'
import { sourceBytes } from '../formats/reading/source-bytes.ts'
import { limitsOf, maxValueBytes } from '../formats/reading/source-limits.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import { READER_GENERATION } from '../snapshot/manifest.ts'
import { SourceError } from '../source-error.ts'
import { syncFolder } from '../write-durably.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { Checkpoint } from './checkpoint.ts'
import type { Compiled, CompileOptions, CompileProgress } from './compile-options.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { divideMemory, needsMoreMemory } from './memory.ts'
import { expansionBound } from './stage/expansion-limit.ts'
import type { StageSummary } from './stage/stage.ts'
import { type Staged, stageStream } from './stage/stage-stream.ts'
import { joinParts } from './stage/staged-parts.ts'

/** A source that is already open, for callers whose features are not in a file. */
export interface OpenSource {
  stream: FeatureStream
  format: string
  bytes: number
  /** The max bytes of its values; without a limit if absent. */
  maxValueBytes?: number
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
  return inFolder(options, async (staging) => {
    const checkpoint = options.staged ? null : await Checkpoint.of<StagedSource>(options, staging)
    const stored = options.staged
      ? await joinStaged(options.staged, options, staging)
      : await checkpoint?.read()
    const { opened, file, summary, ...staged } =
      stored ?? (await stageSource(options, staging, onProgress, signal, source))
    refuseInvalid(file, summary, options.skipInvalid === true)
    if (summary.rows === 0 && source === undefined) throw new SourceError(`${file} has no rows.`)
    if (!stored)
      await checkpoint?.write({
        ...staged,
        summary,
        file,
        opened: { format: opened.format, bytes: opened.bytes },
      })
    const compiled = await buildSnapshot({
      options,
      staging,
      summary,
      spatial: staged.spatial,
      source: {
        ...{ file, format: opened.format, crs: staged.crs, crsTransformation: staged.crsTransformation },
        ...{ bytes: opened.bytes, reader: READER_GENERATION },
      },
      notes: staged.notes,
      onPhase: (phase, indexedRows) =>
        onProgress({
          ...{ phase, rows: summary.rows, bytesRead: opened.bytes, totalBytes: opened.bytes },
          ...(indexedRows !== undefined && { indexedRows }),
        }),
      signal,
    })
    await rm(staging, { recursive: true, force: true })
    // All files are already synced; syncing the folder makes their names durable.
    await syncFolder(options.folder)
    return compiled
  })
}

/** Does the work with a folder for temporary files. If it fails, the folder of the snapshot is removed. */
export async function inFolder<T>(
  options: CompileOptions,
  work: (staging: string) => Promise<T>,
): Promise<T> {
  const staging = join(options.resume?.folder ?? options.folder, 'staging')
  await mkdir(options.folder, { recursive: true })
  await mkdir(staging, { recursive: true })
  try {
    return await work(staging)
  } catch (error) {
    // In a sandbox the folder is a mount point: it is emptied here, and removed by the process outside.
    await rm(options.folder, { recursive: true, force: true }).catch(() => {})
    if (isOutOfMemory(error))
      throw new SourceError(needsMoreMemory(options.file ?? basename(options.path), options.memoryMegabytes))
    throw error
  }
}

/** A source whose rows are staged. */
interface StagedSource extends Staged {
  opened: Pick<OpenSource, 'format' | 'bytes'>
  file: string
  spatial: boolean
}

/** The rows that several processes have staged. */
async function joinStaged(
  parts: NonNullable<CompileOptions['staged']>,
  options: CompileOptions,
  staging: string,
): Promise<StagedSource> {
  const { plan, staged } = await joinParts(parts, options, staging)
  const { file, source, spatial } = plan
  return { ...staged, opened: source, file, spatial: spatial || staged.summary.places.hasGeometry }
}

/** Opens a source and stages all of its rows. */
export async function stageSource(
  options: CompileOptions,
  staging: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
  source?: OpenSource,
): Promise<StagedSource> {
  const opened = source ?? (await openPath(options, staging))
  const file = options.file ?? basename(options.path)
  const staged = await stageStream(
    opened.stream,
    expansionBound(file, opened.bytes, opened.maxValueBytes ?? Infinity),
    options,
    staging,
    onProgress,
    signal,
  )
  if (options.growsTo !== undefined) opened.bytes = (await stat(options.path)).size
  return { ...staged, opened, file, spatial: opened.stream.spatial || staged.summary.places.hasGeometry }
}

function refuseInvalid(file: string, summary: StageSummary, skipInvalid: boolean): void {
  if (summary.problemCount > 0 && !skipInvalid)
    throw new InvalidSourceError(file, summary.problems, summary.problemCount)
  if (summary.problemCount > 0 && summary.rows === 0)
    throw new InvalidSourceError(file, summary.problems, summary.problemCount)
}

export async function openPath(options: CompileOptions, staging: string): Promise<OpenSource> {
  const { path, parts, file, format, layer, crs, limits, gdal, memoryMegabytes, growsTo } = options
  const { FORMATS, openSource } = await import('../formats/index.ts')
  const stream = await openSource(path, {
    originalName: file,
    parts,
    grows: growsTo !== undefined,
    scratchFolder: staging,
    format,
    layer,
    crs,
    limits,
    gdal,
    ...readOptionsOf(options),
    databaseMegabytes: divideMemory(memoryMegabytes).database,
  })
  const stats = await stat(path)
  const bytes = growsTo ?? (await sourceBytes(path, parts))
  const isColumnar = FORMATS.find(({ name }) => name === stream.format)?.isColumnar
  return {
    stream,
    format: stream.format,
    bytes: stats.isFile() && !parts && growsTo === undefined ? stats.size : bytes,
    maxValueBytes: maxValueBytes(bytes, limitsOf(limits), isColumnar),
  }
}
