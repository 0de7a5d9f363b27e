import { writeSync } from 'node:fs'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { isDiskFull } from '../export-error.ts'
import { lowerPriority } from '../lower-priority.ts'
import { SourceError } from '../source-error.ts'
import type { CompileMessage, CompileTask } from './compile-messages.ts'
import { MESSAGE_FD } from './compile-messages.ts'
import type { CompileProgress } from './compile-options.ts'
import { compileSource } from './compile-source.ts'
import { inspectSource } from './inspect.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { RemainingTime } from './remaining-time.ts'
import { SchemaMismatchError } from './schema-mismatch-error.ts'
import { planParts, stagePart } from './stage-parts.ts'

const PROGRESS_INTERVAL_MS = 100
const ALIVE_INTERVAL_MS = 1000

/**
 * The entry point of a process that compiles or inspects one source, which keeps the server's own threads free, and what a
 * hostile file can do away from them. It is told what to do by a line on its standard input, which stays open while
 * the parent lives, and reports by lines of JSON.
 */
async function main(task: CompileTask): Promise<void> {
  let lastReportAt = 0
  let reportedPhase = ''
  const remaining = new RemainingTime(performance.now() - (task.options.staged?.readingMs ?? 0))
  const tell = (progress: CompileProgress) => {
    const now = performance.now()
    if (progress.phase === reportedPhase && now - lastReportAt < PROGRESS_INTERVAL_MS) return
    lastReportAt = now
    reportedPhase = progress.phase
    send({ progress: task.task === 'compile' ? remaining.at(progress, now) : progress })
  }
  send({ alive: true })
  const aliveTimer = setInterval(() => send({ alive: true }), ALIVE_INTERVAL_MS)
  let message: CompileMessage
  try {
    message = await perform(task, tell)
  } catch (error) {
    message = describe(error)
  } finally {
    clearInterval(aliveTimer)
  }
  send(message)
  process.exit()
}

async function perform(
  task: CompileTask,
  onProgress: (progress: CompileProgress) => void,
): Promise<CompileMessage> {
  const { options } = task
  switch (task.task) {
    case 'compile':
      return { compiled: await compileSource(options, onProgress) }
    case 'inspect':
      return { inspected: await inspectSource(options, onProgress) }
    case 'plan':
      return { planned: await planParts(options, task.partBytes) }
    case 'part':
      await stagePart(options, task.part, onProgress)
      return { stagedPart: true }
  }
}

/** The pipe blocks, so that the last message is whole before the process exits. */
function send(message: CompileMessage): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`)
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(MESSAGE_FD, bytes, written)
    } catch (error) {
      // Some systems make the pipe non-blocking; the parent reads all the time.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

function describe(error: unknown): CompileMessage {
  if (error instanceof InvalidSourceError) {
    const { file, problems, problemCount } = error
    return { invalid: { file, problems, problemCount } }
  }
  if (error instanceof SchemaMismatchError) return { mismatch: { file: error.file, misfits: error.misfits } }
  if (error instanceof SourceError) return { refused: error.message }
  if (isDiskFull(error)) return { diskFull: true }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

// Give requests priority on machines with few cores.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
// If the parent is gone, the result is not needed. SQLite may block this thread without an end, so another one
// looks for the parent too.
new Worker(new URL('./parent-watch.ts', import.meta.url), { execArgv: [] }).unref()
const lines = createInterface({ input: process.stdin })
lines.once('line', (line) => void main(JSON.parse(line)))
lines.once('close', () => process.exit(1))
