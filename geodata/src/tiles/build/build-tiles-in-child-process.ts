import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ExportError, ProcessEndedError } from '../../export-error.ts'
import { removePartial } from '../../exports/write-atomically.ts'
import { childEnvironment } from '../../sandbox/minimal-environment.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { ZOOM_SUFFIXES } from '../archive/pmtiles-writer.ts'
import type { BuiltTiles, TileOptions } from './build-tiles.ts'
import type { TilesMessage, TilesRequest } from './build-tiles-process.ts'

const ENTRY = fileURLToPath(new URL('./build-tiles-process.ts', import.meta.url))
const STDERR_KEPT = 4000

/** Runs `buildTiles` in a child process of low priority. Aborting kills it and removes its partial files. */
export async function buildTilesInChildProcess(
  snapshotFolder: string,
  outPath: string,
  { signal, onProgress, ...options }: TileOptions,
  manifest: Manifest,
): Promise<BuiltTiles> {
  signal?.throwIfAborted()
  const child = fork(ENTRY, {
    execArgv: [],
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const abort = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', abort, { once: true })
  let result: TilesMessage | null = null
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT)
  })
  child.on('message', (message: TilesMessage) => {
    if ('progress' in message) onProgress?.(message.progress)
    else result = message
  })
  try {
    const ended = new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`))
    })
    const request: TilesRequest = { snapshotFolder, outPath, options, manifest }
    child.send(request, (error) => error && child.kill('SIGKILL'))
    const end = await ended
    signal?.throwIfAborted()
    return outcome(result, end, stderr)
  } catch (error) {
    if (child.pid !== undefined) await removeTilePartials(outPath, child.pid)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** The files of a build that was killed: the archive, and one for each zoom. */
async function removeTilePartials(outPath: string, pid: number): Promise<void> {
  await removePartial(outPath, pid, ZOOM_SUFFIXES)
}

function outcome(message: TilesMessage | null, end: string, stderr: string): BuiltTiles {
  if (message === null) throw new ProcessEndedError(end, stderr)
  if ('built' in message) return message.built
  if ('damaged' in message) throw new DamagedSnapshotError(message.damaged.file, message.damaged.message)
  if ('refused' in message) throw new ExportError(message.refused.code, message.refused.message)
  throw new ExportError('build-failed', 'failed' in message ? message.failed : end)
}
