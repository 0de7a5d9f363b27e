import { parentPort } from 'node:worker_threads'
import { performRequests } from '../../threads/perform-requests.ts'
import { type FileAsk, RemoteFile } from '../../threads/remote-file.ts'
import { buildPartition, type PartitionOrder } from './build-partition.ts'
import { type PlanOptions, planTiles, type TilePlan } from './tile-plan.ts'
import { openTileSource, type TileSource, type TileSourceOptions } from './tile-source.ts'

/** A thread gets orders for one snapshot only. */
export interface PartitionRequest {
  source: TileSourceOptions
  order: PartitionOrder | { plan: PlanOptions }
}

/** What a thread asks of a file that the process which has started this one reads. */
export interface NamedFileAsk {
  file: string
  ask: FileAsk
}

let source: TileSource | null = null

function openRemote(file: string): RemoteFile {
  return new RemoteFile((ask) => parentPort!.postMessage({ file, ask } satisfies NamedFileAsk))
}

performRequests<PartitionRequest, TilePlan | null>(
  async ({ source: options, order }) => {
    source ??= openTileSource(options, openRemote)
    if ('plan' in order) return planTiles(source, order.plan)
    await buildPartition(source, order)
    return null
  },
  () => [],
)
