import { rmSync } from 'node:fs'
import { constants } from 'node:os'
import { ExportError, type ExportErrorCode } from '../../export-error.ts'
import { lowerPriority } from '../../lower-priority.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { partialPath } from '../../write-durably.ts'
import { ZOOM_SUFFIXES } from '../archive/pmtiles-writer.ts'
import { type BuiltTiles, buildTiles, type TileOptions } from './build-tiles.ts'

/** The request from the parent process. */
export interface TilesRequest {
  snapshotFolder: string
  outPath: string
  options: Omit<TileOptions, 'signal' | 'onProgress'>
  manifest: Manifest
}

/** What the building process tells: its progress, and at last its result. */
export type TilesMessage =
  | { progress: number }
  | { built: BuiltTiles }
  | { refused: { code: ExportErrorCode; message: string } }
  | { damaged: { file: string; message: string } }
  | { failed: string }

const PROGRESS_MS = 200

async function main({ snapshotFolder, outPath, options, manifest }: TilesRequest): Promise<void> {
  let lastReportAt = 0
  const onProgress = (progress: number) => {
    const now = performance.now()
    if (now - lastReportAt < PROGRESS_MS) return
    lastReportAt = now
    // With a callback, a parent that is gone is not an uncaught error: the handler of `disconnect` cleans up.
    process.send?.({ progress } satisfies TilesMessage, () => {})
  }
  let message: TilesMessage
  try {
    message = { built: await buildTiles(snapshotFolder, outPath, { ...options, onProgress }, manifest) }
  } catch (error) {
    message = describe(error)
  }
  process.send?.(message, () => {
    if (process.connected) process.disconnect()
  })
}

function describe(error: unknown): TilesMessage {
  if (error instanceof DamagedSnapshotError) return { damaged: { file: error.file, message: error.message } }
  if (error instanceof ExportError) return { refused: { code: error.code, message: error.message } }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

// Tiles can wait: requests and exports go first.
lowerPriority(constants.priority.PRIORITY_LOW)
process.once('message', (request: TilesRequest) => {
  // If the parent is gone, the result is not needed, and there is no one else to remove the files.
  process.once('disconnect', () => {
    const partial = partialPath(request.outPath, process.pid)
    for (const suffix of ['', ...ZOOM_SUFFIXES]) rmSync(partial + suffix, { force: true })
    process.exit()
  })
  main(request)
})
