import { constants } from 'node:os'
import { Worker } from 'node:worker_threads'
import { isDiskFull } from '../export-error.ts'
import { lowerPriority } from '../lower-priority.ts'
import { SourceError } from '../source-error.ts'
import { compileSnapshot } from './compile.ts'
import type { Compiled, CompileOptions, CompileProgress } from './compile-options.ts'
import { InvalidSourceError } from './invalid-source-error.ts'

/** The messages from the compiling process to its parent. */
export type CompileMessage =
  | { progress: CompileProgress }
  /** Sent every second while the process can run its event loop. */
  | { alive: true }
  | { compiled: Compiled }
  | { invalid: { file: string; problems: InvalidSourceError['problems']; problemCount: number } }
  | { refused: string }
  | { diskFull: true }
  | { failed: string }

const PROGRESS_INTERVAL_MS = 100
const ALIVE_INTERVAL_MS = 1000

/** The entry point of a process that compiles one snapshot, which keeps the server's own threads free. */
async function main(options: CompileOptions): Promise<void> {
  let lastReportAt = 0
  let reportedPhase = ''
  const tell = (progress: CompileProgress) => {
    const now = performance.now()
    if (progress.phase === reportedPhase && now - lastReportAt < PROGRESS_INTERVAL_MS) return
    lastReportAt = now
    reportedPhase = progress.phase
    process.send?.({ progress } satisfies CompileMessage)
  }
  const tellAlive = () => process.send?.({ alive: true } satisfies CompileMessage)
  tellAlive()
  const aliveTimer = setInterval(tellAlive, ALIVE_INTERVAL_MS)
  let message: CompileMessage
  try {
    message = { compiled: await compileSnapshot(options, tell) }
  } catch (error) {
    message = describe(error)
  } finally {
    clearInterval(aliveTimer)
  }
  process.send?.(message, () => process.disconnect())
}

function describe(error: unknown): CompileMessage {
  if (error instanceof InvalidSourceError) {
    const { file, problems, problemCount } = error
    return { invalid: { file, problems, problemCount } }
  }
  if (error instanceof SourceError) return { refused: error.message }
  if (isDiskFull(error)) return { diskFull: true }
  return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

// Give requests priority on machines with few cores.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
// If the parent is gone, the result is not needed. SQLite may block this thread without an end, so another one
// looks for the parent too.
process.once('disconnect', () => process.exit())
new Worker(new URL('./parent-watch.ts', import.meta.url), { execArgv: [] }).unref()
process.once('message', (options) => main(options as CompileOptions))
