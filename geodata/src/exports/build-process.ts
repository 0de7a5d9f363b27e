import { constants } from 'node:os'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { ExportError, type ExportErrorCode } from '../export-error.ts'
import { lowerPriority } from '../lower-priority.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { type BuiltChanges, buildChanges, type ChangesWork } from './changes/build-changes.ts'
import type { ExportOptions } from './export-options.ts'
import { buildExport } from './index.ts'
import { buildVariant, type Variant, variantPath } from './variant.ts'
import { type BuiltFile, removePartialNow } from './write-atomically.ts'

/** The request from the parent process. */
export type BuildRequest =
  | {
      snapshotFolder: string
      format: ExportFormat
      outPath: string
      options: Omit<ExportOptions, 'signal'>
      manifest: Manifest | undefined
    }
  | { path: string; variant: Variant }
  | { changes: ChangesWork; outPath: string | null }

/** The single response of the building process. */
export type BuildMessage =
  | { built: BuiltFile }
  | { changes: BuiltChanges }
  | { refused: { code: ExportErrorCode; message: string } }
  | { damaged: { file: string; message: string; folder: string | undefined } }
  | { failed: string }

async function main(request: BuildRequest): Promise<void> {
  let message: BuildMessage
  try {
    if ('changes' in request) message = { changes: await buildChanges(request.changes, request.outPath) }
    else message = { built: await build(request) }
  } catch (error) {
    message = describe(error)
  }
  process.send?.(message, () => {
    if (process.connected) process.disconnect()
  })
}

function build(request: Exclude<BuildRequest, { changes: unknown }>): Promise<BuiltFile> {
  if ('variant' in request) return buildVariant(request.path, request.variant)
  const { snapshotFolder, format, outPath, options, manifest } = request
  return buildExport(snapshotFolder, format, outPath, options, manifest)
}

function describe(error: unknown): BuildMessage {
  if (error instanceof DamagedSnapshotError) {
    const { file, message, folder } = error
    return { damaged: { file, message, folder } }
  }
  if (error instanceof ExportError) return { refused: { code: error.code, message: error.message } }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

// Give requests priority on machines with few cores.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.once('message', (request: BuildRequest) => {
  // If the parent is gone, the result is not needed, and no other process removes the files of one that still runs.
  process.once('disconnect', () => {
    const outPath = 'variant' in request ? variantPath(request.path, request.variant) : request.outPath
    if (outPath !== null) removePartialNow(outPath)
    process.exit()
  })
  main(request)
})
