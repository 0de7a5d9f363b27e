import { rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { ParquetBlocks } from '../formats/parquet/parquet.ts'
import { isBlockStream } from '../formats/source-blocks.ts'
import { inFolder, openPath } from './compile.ts'
import type { CompileOptions, CompileProgress } from './compile-options.ts'
import { DEFAULT_MAX_ROWS } from './limits.ts'
import { PART_FILE, type PlannedParts, printPlan } from './stage/stage-plan.ts'
import { sourceCrs } from './stage/stage-stream.ts'
import { stagePartOf } from './stage/staged-parts.ts'
import { refuseInaccurate } from './transformer-for.ts'

/** A thousand are enough for any number of workers. */
const MAX_PARTS = 1000

/**
 * Divides the rows of a Parquet source into parts of about `partBytes` of the source each. Null if it is to be read as
 * a whole: it is another format, too small, or larger than the limits permit, which compiling it reports.
 */
export async function planParts(options: CompileOptions, partBytes: number): Promise<PlannedParts | null> {
  return inFolder(options, async (staging) => {
    const {
      stream,
      format,
      bytes,
      maxValueBytes = Number.POSITIVE_INFINITY,
    } = await openPath(options, staging)
    const parsing = isBlockStream(stream) ? stream.parsing : null
    if (parsing?.format !== 'parquet') return null
    const { columns, notes, crs, spatial } = stream
    if (!options.allowInaccurateCrs) await refuseInaccurate(sourceCrs(options, stream), null)
    const blocks = await Array.fromAsync((stream as ParquetBlocks).blocks())
    const rows = blocks.reduce((sum, block) => sum + block.rows, 0)
    const count = Math.min(MAX_PARTS, blocks.length, Math.ceil(bytes / partBytes))
    if (count < 2 || rows > (options.limits?.rows ?? DEFAULT_MAX_ROWS)) return null
    const { idColumn, maxProblems, crs: statedCrs } = options
    return printPlan({
      ...{ columns, notes, crs, spatial },
      file: options.file ?? basename(options.path),
      source: { format, bytes, maxValueBytes },
      parsing: { ...parsing, parts: parsing.parts.map((part) => ({ ...part, path: '' })) },
      names: parsing.parts.map(({ path }) => relative(options.path, path)),
      parts: divide(blocks, rows, count),
      options: { idColumn, maxProblems, crs: statedCrs },
    })
  })
}

/** Stages a part of the plan in `options.staged`. Returns the path of the only file in the folder of the options. */
export async function stagePart(
  options: CompileOptions,
  part: number,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
): Promise<string> {
  const planPath = options.staged!.plan
  return inFolder(options, async (staging) => {
    const path = join(options.folder, PART_FILE)
    await stagePartOf({ planPath, part, path }, options, staging, onProgress, signal)
    await rm(staging, { recursive: true, force: true })
    return path
  })
}

/** Divides blocks, in their order, into up to `count` parts of about as many rows. */
function divide<T extends { rows: number }>(blocks: T[], rows: number, count: number): T[][] {
  const parts: T[][] = Array.from({ length: count }, () => [])
  let before = 0
  for (const block of blocks) {
    parts[Math.floor(((before + block.rows / 2) / rows) * count)]!.push(block)
    before += block.rows
  }
  return parts.filter((part) => part.length > 0)
}
