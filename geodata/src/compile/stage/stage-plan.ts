import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { FeatureStream } from '../../feature.ts'
import type { ParquetBlock, ParquetParsing } from '../../formats/parquet/parquet-block.ts'
import type { SourceBlocks } from '../../formats/source-blocks.ts'
import type { CompileOptions } from '../compile-options.ts'

/** The file that staging a part leaves in its folder. */
export const PART_FILE = 'part'

/** What every process has to know that stages a part of a source. */
export interface StagePlan extends Pick<FeatureStream, 'columns' | 'notes' | 'crs' | 'spatial'> {
  file: string
  source: { format: string; bytes: number; maxValueBytes: number }
  /** Its files are found by `names`, at another place in every process. */
  parsing: ParquetParsing
  /** The paths of the files inside the folder of the source; of a source that is one file, an empty name. */
  names: string[]
  /** The blocks of each part. */
  parts: ParquetBlock[][]
  options: Pick<CompileOptions, 'idColumn' | 'maxProblems' | 'crs'>
}

/** The plan as it is stored, with what those need who hand out the parts. */
export interface PlannedParts {
  /** The files that each part reads, and how many rows of them. */
  parts: { names: string[]; rows: number }[]
  /** The `StagePlan`, which only the processes open that stage: the numbers of columns and limits are not all JSON. */
  plan: string
}

export function printPlan(plan: StagePlan): PlannedParts {
  return {
    parts: plan.parts.map((blocks) => ({
      names: [...new Set(blocks.map(({ part }) => part))].map((part) => plan.names[part]!),
      rows: blocks.reduce((sum, { rows }) => sum + rows, 0),
    })),
    plan: serialize(plan).toString('base64'),
  }
}

export async function readPlan(path: string): Promise<StagePlan> {
  const { plan } = JSON.parse(await readFile(path, 'utf8')) as PlannedParts
  return deserialize(Buffer.from(plan, 'base64')) as StagePlan
}

/** The blocks of a part as a stream. `path` is where the source is here. */
export function streamOfPart(
  plan: StagePlan,
  part: number,
  { path, databaseMegabytes }: { path: string; databaseMegabytes: number },
): SourceBlocks {
  const { columns, crs, spatial, parsing, names } = plan
  const blocks = plan.parts[part]!
  const total = blocks.reduce((sum, { rows }) => sum + rows, 0)
  let read = 0
  return {
    ...{ columns, crs, spatial, notes: [], totalBytes: total },
    get bytesRead() {
      return read
    },
    parsing: {
      ...parsing,
      parts: parsing.parts.map((file, i) => ({
        ...file,
        path: join(path, names[i]!),
        options: { ...file.options, databaseMegabytes },
      })),
    },
    async *blocks() {
      for (const block of blocks) {
        yield block
        read += block.rows
      }
    },
    batches() {
      throw new Error('parts are read by blocks')
    },
  }
}
