import { type ChildProcess, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SourceError } from '../source-error.ts'
import type { Compiled, CompileOptions, CompileProgress } from './compile-options.ts'
import type { CompileMessage } from './compile-process.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { divideMemory, needsMoreMemory } from './memory.ts'
import { TimeLimits } from './time-limits.ts'

const ENTRY = fileURLToPath(new URL('./compile-process.ts', import.meta.url))
const STDERR_KEPT = 4000

/** A small young generation saves some hundred megabytes for a little time: rows live for a chunk. */
export function compileNodeFlags(memoryMegabytes?: number): string[] {
  return [`--max-old-space-size=${divideMemory(memoryMegabytes).heap}`, '--max-semi-space-size=16']
}

/** The compiling process was asked to stop. The source is not at fault and may be compiled again. */
export class CompileInterruptedError extends Error {
  override name = 'CompileInterruptedError'
}

/** The process was killed, probably because memory ran out: for this file, or for another program. */
export class CompileKilledError extends SourceError {
  override name = 'CompileKilledError'
}

/** The disk of the service is full. The source is not at fault. */
export class CompileDiskFullError extends Error {
  override name = 'CompileDiskFullError'
}

/**
 * Runs `compileSnapshot` in a child process. Aborting kills the process and the programs that it started at
 * once; any files it leaves in the folder when it dies are removed. The limits of time are kept here, because
 * the child may be blocked.
 */
export async function compileInChildProcess(
  options: CompileOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
): Promise<Compiled> {
  signal?.throwIfAborted()
  const child = fork(ENTRY, {
    execArgv: compileNodeFlags(options.memoryMegabytes),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A process group of its own, so that ogr2ogr can be killed with it.
    detached: true,
  })
  const abort = () => killGroup(child)
  signal?.addEventListener('abort', abort, { once: true })
  let last: CompileMessage | null = null
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT)
  })
  const timeLimits = new TimeLimits(options, () => killGroup(child))
  child.on('message', (message: CompileMessage) => {
    if ('alive' in message) timeLimits.noteAlive()
    else if ('progress' in message) {
      timeLimits.noteProgress(message.progress)
      onProgress(message.progress)
    } else last = message
  })
  try {
    const ended = new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, killedBy) => resolve(killedBy ?? `exit code ${code}`))
    })
    child.send(options, (error) => error && killGroup(child))
    const end = await ended
    signal?.throwIfAborted()
    if (last === null && timeLimits.exceeded !== null) throw new SourceError(timeLimits.exceeded)
    return outcome(last, options, end, stderr)
  } catch (error) {
    await rm(options.folder, { recursive: true, force: true })
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
    timeLimits.clear()
  }
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // The process has no group yet, or is gone.
    child.kill('SIGKILL')
  }
}

function outcome(
  message: CompileMessage | null,
  options: CompileOptions,
  end: string,
  stderr: string,
): Compiled {
  const file = options.file ?? basename(options.path)
  if (message === null) {
    // Ctrl-C and service supervisors signal all processes; the child may end before its parent notices.
    if (end === 'SIGTERM' || end === 'SIGINT')
      throw new CompileInterruptedError(`compiling ${file} was interrupted by ${end}`)
    if (/out of memory|allocation failed/i.test(stderr))
      throw new SourceError(needsMoreMemory(file, options.memoryMegabytes))
    if (end === 'SIGKILL')
      throw new CompileKilledError(
        `The process that compiled ${file} was killed. The system does this when memory runs out.`,
      )
    throw new Error(`compiling ${file} ended without a result (${end}): ${stderr.trim()}`)
  }
  if ('compiled' in message) return message.compiled
  if ('invalid' in message) {
    const { problems, problemCount } = message.invalid
    throw new InvalidSourceError(message.invalid.file, problems, problemCount)
  }
  if ('diskFull' in message)
    throw new CompileDiskFullError(`There is no room on the disk to compile ${file}.`)
  if ('refused' in message) throw new SourceError(message.refused)
  throw new Error(`compiling ${file} failed: ${'failed' in message ? message.failed : ''}`)
}
