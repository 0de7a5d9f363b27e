import { constants } from 'node:os'
import { ExportError, type ExportErrorCode } from '../../export-error.ts'
import { type BuiltFile, removePartialNow } from '../../exports/write-atomically.ts'
import { lowerPriority } from '../../lower-priority.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { TileDescription } from '../archive/tile-metadata.ts'
import {
  buildPart,
  joinParts,
  type PartedSnapshot,
  type PlanLimits,
  planParts,
  verifyRead,
} from './build-parts.ts'
import { type BuiltTiles, buildTiles, type TileOptions } from './build-tiles.ts'
import { type RemoteAsk, RemoteReads, type RemoteReply } from './remote-reads.ts'

/** The request from the parent process: what is written to `path`. */
export type TilesRequest = { path: string } & (
  | {
      task: 'whole'
      folder: string
      manifest: Manifest
      options: Omit<TileOptions, 'signal' | 'onProgress'>
    }
  | ({ task: 'plan'; limits: PlanLimits } & PartedSnapshot)
  | ({ task: 'part'; planPath: string; part: number; verify: boolean } & PartedSnapshot)
  | {
      task: 'join'
      manifest: Manifest
      planPath: string
      parts: readonly string[]
      description: TileDescription
    }
)

/** What the building process tells: its progress, what it asks of files that the parent reads, and at last its result. */
export type TilesMessage =
  | { progress: number }
  | RemoteAsk
  | { value: BuiltFile | BuiltTiles }
  | { refused: { code: ExportErrorCode; message: string } }
  | { damaged: { file: string; message: string } }
  | { failed: string }

const PROGRESS_MS = 200

/** With a callback, a parent that is gone is not an uncaught error: the handler of `disconnect` cleans up. */
function send(message: TilesMessage, sent = () => {}): void {
  process.send?.(message, undefined, undefined, sent)
}

const reads = new RemoteReads(send)

async function main(request: TilesRequest): Promise<void> {
  let lastReportAt = 0
  const onProgress = (progress: number) => {
    const now = performance.now()
    if (now - lastReportAt < PROGRESS_MS) return
    lastReportAt = now
    send({ progress })
  }
  let message: TilesMessage
  try {
    message = { value: await perform(request, onProgress) }
  } catch (error) {
    message = describe(error)
  }
  send(message, () => {
    if (process.connected) process.disconnect()
  })
}

async function perform(
  request: TilesRequest,
  onProgress: (share: number) => void,
): Promise<BuiltFile | BuiltTiles> {
  const { reply } = reads
  const { path } = request
  switch (request.task) {
    case 'whole':
      return buildTiles(request.folder, path, { ...request.options, onProgress }, request.manifest)
    case 'plan':
      return planParts(request, path, request.limits, { reply })
    case 'part':
      if (request.verify && request.folder !== null) await verifyRead(request.folder, request.manifest)
      return buildPart(request, request, { reply, onProgress })
    case 'join':
      return joinParts(request, request, request.description)
  }
}

function describe(error: unknown): TilesMessage {
  if (error instanceof DamagedSnapshotError) return { damaged: { file: error.file, message: error.message } }
  if (error instanceof ExportError) return { refused: { code: error.code, message: error.message } }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

// Tiles can wait: requests and exports go first.
lowerPriority(constants.priority.PRIORITY_LOW)
process.once('message', (request: TilesRequest) => {
  process.on('message', (reply: RemoteReply) => reads.receive(reply))
  // If the parent is gone, another process goes on with the partitions that are finished.
  process.once('disconnect', () => {
    removePartialNow(request.path)
    process.exit()
  })
  main(request)
})
