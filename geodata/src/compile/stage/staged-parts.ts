import type { CompileOptions, CompileProgress } from '../compile-options.ts'
import { divideMemory } from '../memory.ts'
import { ExpansionLimit, expansionBound } from './expansion-limit.ts'
import { joinSummaries } from './join-summaries.ts'
import { openPartFile, type StagedRows, writePartFile } from './part-file.ts'
import { stageInThreads } from './stage-in-threads.ts'
import { readPlan, type StagePlan, streamOfPart } from './stage-plan.ts'
import { describeStaged, type Staged, sourceCrs } from './stage-stream.ts'

/** What several processes have staged, as if one had. */
export async function joinParts(
  { plan: planPath, parts }: NonNullable<CompileOptions['staged']>,
  options: CompileOptions,
  folder: string,
): Promise<{ plan: StagePlan; staged: Staged }> {
  const plan = await readPlan(planPath)
  const { file, source } = plan
  const limit = new ExpansionLimit(expansionBound(file, source.bytes, source.maxValueBytes))
  const opened: StagedRows[] = []
  for (const [i, path] of parts.entries()) {
    const part = await openPartFile(path, folder, `part${i}`)
    limit.add(part.valueBytes)
    opened.push(part)
  }
  const summary = joinSummaries(
    opened.map((part) => part.summary),
    options.maxProblems,
  )
  const planned = plan.parts.flat().reduce((sum, { rows }) => sum + rows, 0)
  if (summary.rows + summary.problemCount !== planned)
    throw new Error(`the parts have ${summary.rows + summary.problemCount} rows instead of ${planned}`)
  return { plan, staged: await describeStaged(plan, sourceCrs(options, plan), summary, options) }
}

/** Stages the rows of a part of a plan, and packs the result into one file. */
export async function stagePartOf(
  { planPath, part, path }: { planPath: string; part: number; path: string },
  options: CompileOptions,
  folder: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
): Promise<void> {
  const plan = await readPlan(planPath)
  const { file, source } = plan
  const databaseMegabytes = divideMemory(options.memoryMegabytes).database
  const stream = streamOfPart(plan, part, { path: options.path, databaseMegabytes })
  const bound = expansionBound(file, source.bytes, source.maxValueBytes)
  const staging = { ...options, ...plan.options, file }
  const summary = await stageInThreads(
    stream,
    sourceCrs(staging, plan),
    bound,
    staging,
    folder,
    onProgress,
    signal,
  )
  const valueBytes = Number(new BigInt64Array(bound.counter)[0])
  await writePartFile(path, { summary, valueBytes })
}
