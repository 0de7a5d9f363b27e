import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** One command of the whole test run. */
export interface Step {
  name: string
  /** The program and its arguments; where it has counts of its own, it writes them to the file it is given. */
  command(countsFile: string): string[]
  /** Without it the command is a check, and counts as one. */
  readCounts?(text: string): Counts
  cwd?: string
  environment?: Record<string, string>
}

export interface StepResult {
  name: string
  seconds: number
  counts: Counts
}

let running: ChildProcess | undefined

/** Ends the command that runs now, so that its step ends too. */
export function stopRunningStep(): void {
  running?.kill('SIGTERM')
}

export async function runStep(step: Step, environment: NodeJS.ProcessEnv): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-counts-'))
  const countsFile = join(folder, 'counts')
  const started = performance.now()
  try {
    const status = await run(step.command(countsFile), step.cwd, { ...environment, ...step.environment })
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const written = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
    if (!step.readCounts) counts.passed = status === 0 ? 1 : 0
    // A runner that was ended leaves the file empty.
    else if (written !== '') Object.assign(counts, step.readCounts(written))
    // A command that fails beside its tests, at loading them for one, must not look like a success.
    if (counts.failed === 0 && (status !== 0 || counts.passed + counts.skipped === 0)) counts.failed = 1
    const seconds = (performance.now() - started) / 1000
    return { name: step.name, seconds, counts }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run([program, ...args]: string[], cwd: string | undefined, env: NodeJS.ProcessEnv) {
  return new Promise<number | null>((resolve) => {
    running = spawn(program!, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
    running.on('error', (error) => {
      console.error(error.message)
      resolve(null)
    })
    running.on('exit', (status) => {
      running = undefined
      resolve(status)
    })
  })
}
