import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { ExportError, ProcessEndedError } from '../export-error.ts'
import { childEnvironment } from '../sandbox/minimal-environment.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { BuildMessage, BuildRequest } from './build-process.ts'
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
  return build({ snapshotFolder, format, outPath, options, manifest }, outPath, signal)
}

/** Runs `buildVariant` in a child process. */
export function buildVariantInChildProcess(
  path: string,
  variant: Variant,
  signal?: AbortSignal,
): Promise<BuiltFile> {
  return build({ path, variant }, variantPath(path, variant), signal)
}

async function build(request: BuildRequest, outPath: string, signal?: AbortSignal): Promise<BuiltFile> {
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
    if (child.pid !== undefined) await removePartial(outPath, child.pid)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

function outcome(message: BuildMessage | null, end: string, stderr: string): BuiltFile {
  if (message === null) throw new ProcessEndedError(end, stderr)
  if ('built' in message) return message.built
  if ('damaged' in message) throw new DamagedSnapshotError(message.damaged.file, message.damaged.message)
  if ('refused' in message) throw new ExportError(message.refused.code, message.refused.message)
  throw new ExportError('build-failed', `Building the export failed: ${message.failed}`)
}
