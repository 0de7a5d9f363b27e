import { parentPort, workerData } from 'node:worker_threads'
import type { BlockParsing, SourceBlock } from '../formats/block-stream.ts'
import { SourceError } from '../source-error.ts'
import { BlockStager } from './block-stager.ts'
import { Stage, type StageSummary } from './stage.ts'
import { transformerFor } from './transformer-for.ts'

export interface StageWorkerData {
  folder: string
  prefix: string
  crs: string | null
  parsing: BlockParsing
}

/** A block to stage, or null where there are no more. */
export type StageRequest = SourceBlock | null

export type StageReply = { done: true } | { summary: StageSummary } | { refused: string }

const port = parentPort!
const { folder, prefix, crs, parsing } = workerData as StageWorkerData
const stage = new Stage({ folder, prefix, transform: await transformerFor(crs) })
const stager = new BlockStager(parsing, stage)

port.on('message', (block: StageRequest) => {
  try {
    port.postMessage(handle(block))
    if (block === null) port.close()
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    port.postMessage({ refused: error.message } satisfies StageReply)
  }
})

function handle(block: StageRequest): StageReply {
  if (block === null) {
    stage.flush()
    return { summary: stage.summary }
  }
  stager.take(block)
  return { done: true }
}
