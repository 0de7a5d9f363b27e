import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { basename, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { limitsOf, maxWrittenBytes } from '../formats/reading/source-limits.ts'
import { type Command, Sandbox } from '../sandbox/sandbox.ts'
import { removeCopies } from '../sandbox/sandbox-user.ts'
import { SourceError } from '../source-error.ts'
import { acceptOutput, acceptPart, acceptPlan } from './accept-output.ts'
import { stateOfSource } from './checkpoint.ts'
import { type CompileMessage, type CompileTask, readMessages } from './compile-messages.ts'
import type { Compiled, CompileOptions, CompileProgress, Inspection } from './compile-options.ts'
import { fillModuleCache } from './fill-module-cache.ts'
import { inputBytes, otherFiles } from './input-bytes.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { defaultMemoryMegabytes, divideMemory, needsMoreMemory, readingThreads } from './memory.ts'
import { SchemaMismatchError } from './schema-mismatch-error.ts'
import type { PlannedParts } from './stage/stage-plan.ts'
import { TimeLimits } from './time-limits.ts'
import { type Exceeded, resourceLimitsOf, watchResources } from './watch-resources.ts'

const ENTRY = fileURLToPath(new URL('./compile-process.ts', import.meta.url))
const STDERR_KEPT = 4000
const DEFAULT_SECONDS = 14_400
const DEFAULT_SANDBOX = new Sandbox('auto')

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
 * Runs `compileSource` in a child process, in a sandbox. Aborting kills the process and the programs that it
 * started at once; any files it leaves in the folder when it dies are removed. The limits of time are kept here,
 * because the child may be blocked. See docs/decisions/sandbox.md.
 */
export async function compileInChildProcess(
  options: CompileOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
  sandbox: Sandbox = DEFAULT_SANDBOX,
): Promise<Compiled> {
  return inFolder(options, signal, sandbox, async (absolute) => {
    const message = await run({ task: 'compile', options: absolute }, onProgress, signal, sandbox)
    if (!('compiled' in message)) throw new Error('the process that compiled sent another result')
    await removeCopies(absolute.folder)
    await acceptOutput(absolute.folder, message.compiled.manifest)
    return message.compiled
  })
}

/** Runs `inspectSource` in the same way. Nothing is left in the folder. */
export async function inspectInChildProcess(
  options: CompileOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
  sandbox: Sandbox = DEFAULT_SANDBOX,
): Promise<Inspection> {
  return inFolder(options, signal, sandbox, async (absolute) => {
    const message = await run({ task: 'inspect', options: absolute }, onProgress, signal, sandbox)
    if (!('inspected' in message)) throw new Error('the process that inspected sent another result')
    await rm(absolute.folder, { recursive: true, force: true })
    return message.inspected
  })
}

/** Runs `planParts` in the same way. Nothing is left in the folder. */
export async function planPartsInChildProcess(
  options: CompileOptions,
  partBytes: number,
  signal?: AbortSignal,
  sandbox: Sandbox = DEFAULT_SANDBOX,
): Promise<PlannedParts | null> {
  return inFolder(options, signal, sandbox, async (absolute) => {
    const message = await run({ task: 'plan', partBytes, options: absolute }, () => {}, signal, sandbox)
    if (!('planned' in message)) throw new Error('the process that planned sent another result')
    await rm(absolute.folder, { recursive: true, force: true })
    return message.planned && acceptPlan(message.planned)
  })
}

/** Runs `stagePart` in the same way. Returns the path of its file. */
export async function stagePartInChildProcess(
  options: CompileOptions,
  part: number,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
  sandbox: Sandbox = DEFAULT_SANDBOX,
): Promise<string> {
  return inFolder(options, signal, sandbox, async (absolute) => {
    const message = await run({ task: 'part', part, options: absolute }, onProgress, signal, sandbox)
    if (!('stagedPart' in message)) throw new Error('the process that staged sent another result')
    await removeCopies(absolute.folder)
    return acceptPart(absolute.folder)
  })
}

type ChildOptions = CompileOptions & { memoryMegabytes: number }

/** Makes the folder in which the process may write. If the work fails, the folder is removed. */
async function inFolder<T>(
  options: CompileOptions,
  signal: AbortSignal | undefined,
  sandbox: Sandbox,
  work: (absolute: ChildOptions) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const absolute = {
    ...options,
    path: resolve(options.path),
    ...(options.parts && { parts: options.parts.map((part) => ({ ...part, path: resolve(part.path) })) }),
    folder: resolve(options.folder),
    ...(options.resume && {
      resume: {
        ...options.resume,
        folder: resolve(options.resume.folder),
        source: await stateOfSource(options),
      },
    }),
    ...(options.staged && {
      staged: {
        ...options.staged,
        plan: resolve(options.staged.plan),
        parts: options.staged.parts.map((part) => resolve(part)),
      },
    }),
    // The child cannot see how much memory there is.
    memoryMegabytes: options.memoryMegabytes ?? defaultMemoryMegabytes(),
  }
  await mkdir(absolute.folder, { recursive: true })
  void fillModuleCache(sandbox, (own) =>
    run({ task: 'compile', options: own }, () => {}, undefined, sandbox, true),
  )
  try {
    return await work(absolute)
  } catch (error) {
    await rm(absolute.folder, { recursive: true, force: true })
    throw error
  }
}

async function run(
  task: CompileTask & { options: ChildOptions },
  onProgress: (progress: CompileProgress) => void,
  signal: AbortSignal | undefined,
  sandbox: Sandbox,
  fillsCache?: true,
): Promise<CompileMessage> {
  const { options } = task
  const { program, args, environment } = await commandFor(options, sandbox, fillsCache)
  const resources = await resourceLimitsOf(options)
  const child = spawn(program, args, {
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    // A process group of its own, so that ogr2ogr can be killed with it.
    detached: true,
  })
  const kill = () => killGroup(child)
  signal?.addEventListener('abort', kill, { once: true })
  if (signal?.aborted) kill()
  let last: CompileMessage | null = null
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT)
  })
  const timeLimits = new TimeLimits(options, kill)
  let exceeded: Exceeded | null = null
  const stopWatching = watchResources({ ...resources, pid: child.pid }, (limit) => {
    exceeded = limit
    kill()
  })
  const receive = (message: CompileMessage) => {
    if ('alive' in message) timeLimits.noteAlive()
    else if ('progress' in message) {
      timeLimits.noteProgress(message.progress)
      onProgress(message.progress)
    } else last = message
  }
  readMessages(child.stdio[3] as Readable, receive, kill)
  try {
    const ended = new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, killedBy) => resolve(killedBy ?? endOf(code)))
    })
    // It stays open: its end tells the child that the parent is gone.
    child.stdin!.on('error', kill)
    child.stdin!.write(`${JSON.stringify(task)}\n`)
    const end = await ended
    signal?.throwIfAborted()
    if (last === null && timeLimits.exceeded !== null) throw new SourceError(timeLimits.exceeded)
    if (last === null && exceeded !== null) throw refusal(exceeded, options)
    return outcome(last, options, end, stderr)
  } finally {
    signal?.removeEventListener('abort', kill)
    timeLimits.clear()
    stopWatching()
  }
}

async function commandFor(
  options: ChildOptions,
  sandbox: Sandbox,
  fillsCache: true | undefined,
): Promise<Command> {
  const { path, file, folder, gdal, limits, memoryMegabytes } = options
  return sandbox.command({
    entry: ENTRY,
    nodeFlags: compileNodeFlags(memoryMegabytes),
    input: { path, isAlone: file !== undefined && file !== basename(path), others: otherFiles(options) },
    folder,
    ...(options.resume && { otherFolder: options.resume.folder }),
    fillsCache,
    program: gdal?.program === undefined ? 'ogr2ogr' : gdal.program,
    limits: {
      fileBytes: maxWrittenBytes(await inputBytes(options), limitsOf(limits)),
      // Heaps and the database may use this together, with room for code and stacks.
      dataMegabytes: memoryMegabytes * 3 + 2048,
      processorSeconds: (limits?.seconds ?? DEFAULT_SECONDS) * (readingThreads(options) + 2),
    },
  })
}

/** The name of the signal that ended a process inside of the sandbox, which exits with 128 and its number. */
function endOf(code: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)
  return signal?.[0] ?? `exit code ${code}`
}

/** A full disk is not a fault of the file, which may be published again. */
function refusal({ resource, reason }: Exceeded, options: CompileOptions): Error {
  const file = options.file ?? basename(options.path)
  if (resource === 'disk')
    return new CompileDiskFullError(`There is no room on the disk to compile ${file}: ${reason}.`)
  return new SourceError(`${file} is refused: ${reason}.`)
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // The process has no group yet, or is gone.
    child.kill('SIGKILL')
  }
}

const RESULTS = ['compiled', 'inspected', 'planned', 'stagedPart']

function outcome(
  message: CompileMessage | null,
  options: CompileOptions,
  end: string,
  stderr: string,
): CompileMessage {
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
  if (RESULTS.some((result) => result in message)) return message
  if ('invalid' in message) {
    const { problems, problemCount } = message.invalid
    throw new InvalidSourceError(message.invalid.file, problems, problemCount)
  }
  if ('mismatch' in message) throw new SchemaMismatchError(message.mismatch.file, message.mismatch.misfits)
  if ('diskFull' in message)
    throw new CompileDiskFullError(`There is no room on the disk to compile ${file}.`)
  if ('refused' in message) throw new SourceError(message.refused)
  throw new Error(`compiling ${file} failed: ${'failed' in message ? message.failed : ''}`)
}
