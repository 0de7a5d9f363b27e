import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { ExportError, ProcessEndedError } from '../export-error.ts'
import { childEnvironment } from '../sandbox/minimal-environment.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { BuildMessage, BuildRequest } from './build-process.ts'
import type { BuiltChanges, ChangesWork } from './changes/build-changes.ts'
import type { ExportOptions } from './export-options.ts'
import { type Variant, variantPath } from './variant.ts'
import { type BuiltFile, removePartial } from './write-atomically.ts'

const ENTRY = fileURLToPath(new URL('./build-process.ts', import.meta.url))
const STDERR_KEPT = 4000

/** Runs `buildExport` in a child process. Aborting kills it at once and removes its partial files. */
export function buildExportInChildProcess(
  snapshotFolder: string,
  format: ExportFormat,
  outPath: string,
  { signal, ...options }: ExportOptions,
  manifest?: Manifest,
): Promise<BuiltFile> {
  return fileOf(build({ snapshotFolder, format, outPath, options, manifest }, outPath, signal))
}

/** Runs `buildVariant` in a child process. */
export function buildVariantInChildProcess(
  path: string,
  variant: Variant,
  signal?: AbortSignal,
): Promise<BuiltFile> {
  return fileOf(build({ path, variant }, variantPath(path, variant), signal))
}

/** Runs `buildChanges` in a child process. */
export async function buildChangesInChildProcess(
  changes: ChangesWork,
  outPath: string | null,
  signal?: AbortSignal,
): Promise<BuiltChanges> {
  const message = await build({ changes, outPath }, outPath, signal)
  if (!('changes' in message)) throw new ExportError('build-failed', 'Nothing was compared.')
  return message.changes
}

async function fileOf(building: Promise<BuildSuccess>): Promise<BuiltFile> {
  const message = await building
  if (!('built' in message)) throw new ExportError('build-failed', 'No file was built.')
  return message.built
}

type BuildSuccess = Extract<BuildMessage, { built: unknown } | { changes: unknown }>

async function build(
  request: BuildRequest,
  outPath: string | null,
  signal?: AbortSignal,
): Promise<BuildSuccess> {
  signal?.throwIfAborted()
  const child = fork(ENTRY, {
    execArgv: [],
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const abort = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', abort, { once: true })
  let message: BuildMessage | null = null
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT)
  })
  child.on('message', (received: BuildMessage) => {
    message = received
  })
  try {
    const ended = new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`))
    })
    child.send(request, (error) => error && child.kill('SIGKILL'))
    const end = await ended
    signal?.throwIfAborted()
    return outcome(message, end, stderr)
  } catch (error) {
    if (child.pid !== undefined && outPath !== null) await removePartial(outPath, child.pid)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

function outcome(message: BuildMessage | null, end: string, stderr: string): BuildSuccess {
  if (message === null) throw new ProcessEndedError(end, stderr)
  if ('built' in message || 'changes' in message) return message
  if ('damaged' in message) {
    const { file, message: text, folder } = message.damaged
    throw new DamagedSnapshotError(file, text, { folder })
  }
  if ('refused' in message) throw new ExportError(message.refused.code, message.refused.message)
  throw new ExportError('build-failed', `Building the export failed: ${message.failed}`)
}
