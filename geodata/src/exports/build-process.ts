import { constants, setPriority } from 'node:os'
import { ExportError, type ExportErrorCode } from './export-error.ts'
import type { ExportOptions } from './export-options.ts'
import { buildExport, type ExportFormat } from './index.ts'
import { buildVariant, type Variant } from './variant.ts'
import type { BuiltFile } from './write-atomically.ts'

/** What the parent asks for. */
export type BuildRequest =
  | {
      snapshotFolder: string
      format: ExportFormat
      outPath: string
      options: Omit<ExportOptions, 'signal'>
    }
  | { path: string; variant: Variant }

/** What the building process answers, once. */
export type BuildMessage =
  | { built: BuiltFile }
  | { refused: { code: ExportErrorCode; message: string } }
  | { failed: string }

async function main(request: BuildRequest): Promise<void> {
  let message: BuildMessage
  try {
    message = {
      built:
        'variant' in request
          ? await buildVariant(request.path, request.variant)
          : await buildExport(request.snapshotFolder, request.format, request.outPath, request.options),
    }
  } catch (error) {
    message =
      error instanceof ExportError
        ? { refused: { code: error.code, message: error.message } }
        : { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  process.send?.(message, () => process.disconnect())
}

// Requests come first where cores are few.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
// Without its parent nobody waits for the result.
process.once('disconnect', () => process.exit())
process.once('message', (request) => main(request as BuildRequest))
