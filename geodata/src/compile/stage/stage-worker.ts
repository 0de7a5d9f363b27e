import { parentPort, workerData } from 'node:worker_threads'
import type { BlockParsing, SourceBlock } from '../../formats/source-blocks.ts'
import { SourceError } from '../../source-error.ts'
import { transformerFor } from '../transformer-for.ts'
import { openStager } from './block-stager.ts'
import { Stage, type StageOptions, type StageSummary } from './stage.ts'

export interface StageWorkerData extends Omit<StageOptions, 'transform'> {
  crs: string | null
  parsing: BlockParsing
}

/** A block to stage, or null after the last one. */
export type StageRequest = SourceBlock | null

export type StageReply = { done: true } | { summary: StageSummary } | { refused: string }

const port = parentPort!
const { crs, parsing, ...staging } = workerData as StageWorkerData
const stage = new Stage({ ...staging, transform: await transformerFor(crs) })
const stager = await openStager(parsing, stage)

/** Blocks are staged sequentially, although the next one may arrive before the current one is done. */
let last = Promise.resolve()
let isRefused = false

port.on('message', (block: StageRequest) => {
  last = last.then(() => stageBlock(block))
})

async function stageBlock(block: StageRequest): Promise<void> {
  if (isRefused) return
  try {
    port.postMessage(await handle(block))
    if (block === null) port.close()
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    isRefused = true
    stager.close()
    port.postMessage({ refused: error.message } satisfies StageReply)
  }
}

async function handle(block: StageRequest): Promise<StageReply> {
  if (block === null) {
    stager.close()
    stage.finish()
    return { summary: stage.summary }
  }
  await stager.take(block)
  return { done: true }
}
