import { isEmptyBbox } from '../geometry/bbox.ts'
import type { Assembly, FinalColumn } from './assemble.ts'
import { openAssembly } from './build-snapshot.ts'
import { chooseTimeColumn } from './columns/choose-columns.ts'
import { chooseNotations } from './columns/choose-notations.ts'
import { formatOf } from './columns/column-format.ts'
import { likelyTypes } from './columns/likely-types.ts'
import { inFolder, stageSource } from './compile.ts'
import type { CompileOptions, CompileProgress, InspectedColumn, Inspection } from './compile-options.ts'
import { divideMemory } from './memory.ts'

/** The rows of a preview, fewer if the source has many columns, so that the result stays small. */
const PREVIEW_ROWS = 20
const PREVIEW_CELLS = 5000
/** The points of a small map. */
const MAX_PLACES = 500
/** How many of the rows that cannot be published are listed. */
const LISTED_PROBLEMS = 100

/**
 * Reads a whole source as publishing would, and returns what it contains and what publishing it would do. Writes no
 * snapshot. Rows that cannot be published are listed, also if none is left.
 */
export async function inspectSource(
  options: CompileOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
): Promise<Inspection> {
  return inFolder(options, async (staging) => {
    const listing = { maxProblems: LISTED_PROBLEMS, ...options }
    const staged = await stageSource(listing, staging, onProgress, signal)
    const { opened, file, summary, spatial, notes, crs, crsTransformation } = staged
    const { database: databaseMegabytes } = divideMemory(options.memoryMegabytes)
    const build = { options, staging, summary, spatial, notes, signal, databaseMegabytes }
    const { assembly, allColumns, columns, geometryType, geometryTypes } = await openAssembly(build)
    const interrupt = () => assembly.interrupt()
    signal?.addEventListener('abort', interrupt)
    try {
      const { rows } = summary
      const choosing = { rows, types: options.types, choices: options.columns }
      const misfits = await chooseNotations(assembly, allColumns, notes, file, choosing)
      const timeColumn = chooseTimeColumn(columns, options, file, misfits)
      const { bbox, located } = summary.places
      return {
        ...{ file, format: opened.format, bytes: opened.bytes, rows },
        problemCount: summary.problemCount,
        problems: summary.problems,
        ...{ geometryType, geometryTypes, crs, crsTransformation },
        bbox: isEmptyBbox(bbox) ? null : bbox,
        unlocated: geometryType === null ? 0 : rows - located,
        places: await assembly.somePlaces(MAX_PLACES),
        timeColumn,
        columns: await describeColumns(assembly, allColumns, new Set(columns), rows),
        preview: await previewOf(assembly, allColumns),
        ...{ misfits, notes },
      }
    } finally {
      signal?.removeEventListener('abort', interrupt)
      assembly.close()
    }
  })
}

async function describeColumns(
  assembly: Assembly,
  columns: FinalColumn[],
  published: ReadonlySet<FinalColumn>,
  rows: number,
): Promise<InspectedColumn[]> {
  const likely = await likelyTypes(assembly, columns)
  return columns.map((column) => {
    const { name, type, nullable, profile } = column
    return {
      ...{ name, source: profile.name, type, nullable },
      format: formatOf(profile.notation),
      empty: rows - profile.present + (type === 'text' ? 0 : profile.blank),
      isHidden: !published.has(column),
      likely: likely.get(column) ?? null,
    }
  })
}

async function previewOf(assembly: Assembly, columns: FinalColumn[]): Promise<Inspection['preview']> {
  const limit = Math.max(1, Math.min(PREVIEW_ROWS, Math.floor(PREVIEW_CELLS / Math.max(1, columns.length))))
  return assembly.firstRows(columns, limit)
}
