import { parentPort, workerData } from 'node:worker_threads'
import { GeojsonParser } from '../formats/geojson-parser.ts'
import type { GeojsonBlock } from '../formats/geojson-scanner.ts'
import { SourceError } from '../source-error.ts'
import { Stage, type StageSummary } from './stage.ts'
import { transformerFor } from './transformer-for.ts'

export interface StageWorkerData {
  folder: string
  prefix: string
  file: string
  crs: string | null
  maxColumns: number | undefined
}

/** A block to stage, or null where there are no more. */
export type StageRequest = GeojsonBlock | null

export type StageReply = { done: true } | { summary: StageSummary } | { refused: string }

/** Wide rows fill a chunk before their number does. */
const FLUSH_BYTES = 1 << 24

const port = parentPort!
const { folder, prefix, file, crs, maxColumns } = workerData as StageWorkerData
const stage = new Stage({ folder, prefix, transform: await transformerFor(crs) })
const parser = new GeojsonParser(file, maxColumns)
let sinceFlush = 0

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
  // By name, because each thread finds the columns in an order of its own; hexadecimal, because the database
  // takes names that differ in case alone for one.
  const stagedName = (index: number) => Buffer.from(parser.columns[index]!.name, 'utf8').toString('hex')
  stage.add(parser.parse(block), parser.columns, stagedName)
  sinceFlush += block.bytes.length
  if (sinceFlush > FLUSH_BYTES) {
    stage.flush()
    sinceFlush = 0
  }
  return { done: true }
}
