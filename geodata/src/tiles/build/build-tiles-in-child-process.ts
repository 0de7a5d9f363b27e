import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ExportError, ProcessEndedError } from '../../export-error.ts'
import { type BuiltFile, removePartial } from '../../exports/write-atomically.ts'
import { childEnvironment } from '../../sandbox/minimal-environment.ts'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import type { SnapshotFiles } from '../../snapshot/snapshot-files.ts'
import type { TileDescription } from '../archive/tile-metadata.ts'
import { tileThreads } from './build-partitions.ts'
import type { PlanLimits } from './build-parts.ts'
import type { BuiltTiles, TileOptions } from './build-tiles.ts'
import type { TilesMessage, TilesRequest } from './build-tiles-process.ts'
import { FileReads, type RemoteReply } from './remote-reads.ts'

const ENTRY = fileURLToPath(new URL('./build-tiles-process.ts', import.meta.url))
const STDERR_KEPT = 4000

interface ProcessOptions {
  signal?: AbortSignal | undefined
  onProgress?: ((share: number) => void) | undefined
}

/** Runs `buildTiles` in a child process of low priority. Aborting kills it; see `buildTiles` for what is kept. */
export function buildTilesInChildProcess(
  snapshotFolder: string,
  path: string,
  { signal, onProgress, ...options }: TileOptions,
  manifest: Manifest,
): Promise<BuiltTiles> {
  return run({ task: 'whole', folder: snapshotFolder, manifest, path, options }, { signal, onProgress })
}

/** A snapshot whose tiles are built in parts. If its files are not local, the child process reads them by this one. */
export interface PartsSnapshot {
  files: SnapshotFiles
  manifest: Manifest
  table: string
}

/** Runs `planParts` in a child process of low priority. */
export function planPartsInChildProcess(
  snapshot: PartsSnapshot,
  path: string,
  limits: PlanLimits,
  options: ProcessOptions,
): Promise<BuiltFile> {
  return run({ task: 'plan', ...requested(snapshot), path, limits }, options, snapshot.files)
}

/** Runs `buildPart` in a child process of low priority, with all cores. With `verify`, it verifies local files before. */
export function buildPartInChildProcess(
  snapshot: PartsSnapshot,
  part: { planPath: string; part: number; path: string; verify: boolean },
  options: ProcessOptions,
): Promise<BuiltFile> {
  return run({ task: 'part', ...requested(snapshot), ...part }, options, snapshot.files)
}

/** Runs `joinParts` in a child process of low priority. */
export function joinPartsInChildProcess(
  { manifest }: Pick<PartsSnapshot, 'manifest'>,
  parts: { planPath: string; parts: readonly string[]; path: string },
  description: TileDescription,
  options: ProcessOptions,
): Promise<BuiltTiles> {
  return run({ task: 'join', manifest, ...parts, description }, options)
}

function requested({ files: { folder, isLocal }, manifest, table }: PartsSnapshot) {
  return { folder: isLocal ? folder : null, manifest, table }
}

async function run<T>(
  request: TilesRequest,
  { signal, onProgress }: ProcessOptions,
  files?: SnapshotFiles,
): Promise<T> {
  signal?.throwIfAborted()
  const child = fork(ENTRY, {
    execArgv: [],
    // Each thread compresses its tiles in those of libuv, which has four by default.
    env: { UV_THREADPOOL_SIZE: String(Math.max(4, tileThreads())), ...childEnvironment() },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Bytes of files are sent.
    serialization: 'advanced',
  })
  const reads = new FileReads(
    (name) => files!.open(name, { isSequential: true }),
    (reply: RemoteReply) => child.connected && child.send(reply, () => {}),
  )
  const abort = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const { message, end, stderr } = await converse(child, request, reads, onProgress)
    signal?.throwIfAborted()
    // An error of the storage, and not what followed from it.
    if (reads.failure !== null && !(message && 'value' in message)) throw reads.failure
    return outcome<T>(message, end, stderr)
  } catch (error) {
    if (child.pid !== undefined) await removePartial(request.path, child.pid)
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    await reads.close()
  }
}

/** Sends the request, replies to what the process asks, and waits for its end. */
async function converse(
  child: ChildProcess,
  request: TilesRequest,
  reads: FileReads,
  onProgress: ((share: number) => void) | undefined,
): Promise<{ message: TilesMessage | null; end: string; stderr: string }> {
  let result: TilesMessage | null = null
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT)
  })
  child.on('message', (message: TilesMessage) => {
    if ('progress' in message) onProgress?.(message.progress)
    else if ('ask' in message) void reads.receive(message)
    else result = message
  })
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`))
  })
  child.send(request, (error) => error && child.kill('SIGKILL'))
  const end = await ended
  return { message: result, end, stderr }
}

function outcome<T>(message: TilesMessage | null, end: string, stderr: string): T {
  if (message === null) throw new ProcessEndedError(end, stderr)
  if ('value' in message) return message.value as T
  if ('damaged' in message) throw new DamagedSnapshotError(message.damaged.file, message.damaged.message)
  if ('refused' in message) throw new ExportError(message.refused.code, message.refused.message)
  throw new ExportError('build-failed', 'failed' in message ? message.failed : end)
}
