import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** One command of the full test run. */
export interface Step {
  name: string
  /** The program and its arguments. If it has its own counts, it writes them to the given file. */
  command(countsFile: string): string[]
  /** If missing, the command is a check and counts as one test. */
  readCounts?(text: string): Counts
  cwd?: string
  environment?: Record<string, string>
}

export interface StepResult {
  name: string
  seconds: number
  counts: Counts
  /** Its buffered output, if output was held back. */
  held: string
}

const running = new Set<ChildProcess>()

/** Ends the running commands, so that their steps end too. */
export function stopRunningSteps(): void {
  for (const child of running) child.kill('SIGTERM')
}

export async function runStep(
  step: Step,
  environment: NodeJS.ProcessEnv,
  holdBack = false,
): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-counts-'))
  const countsFile = join(folder, 'counts')
  const heldFile = join(folder, 'held')
  const started = performance.now()
  const output = holdBack ? openSync(heldFile, 'a') : 'inherit'
  try {
    const status = await run(step, step.command(countsFile), environment, output)
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const written = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
    if (!step.readCounts) counts.passed = status === 0 ? 1 : 0
    // A test runner that was killed leaves the file empty.
    else if (written !== '') Object.assign(counts, step.readCounts(written))
    // A command that fails outside its tests, for example while loading them, must not look like a success.
    if (counts.failed === 0 && (status !== 0 || counts.passed + counts.skipped === 0)) counts.failed = 1
    const seconds = (performance.now() - started) / 1000
    return { name: step.name, seconds, counts, held: holdBack ? readFileSync(heldFile, 'utf8') : '' }
  } finally {
    if (typeof output === 'number') closeSync(output)
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(
  step: Step,
  [program, ...args]: string[],
  environment: NodeJS.ProcessEnv,
  output: number | 'inherit',
): Promise<number | null> {
  return new Promise((resolve) => {
    const env = { ...environment, ...step.environment }
    const child = spawn(program!, args, { cwd: step.cwd, env, stdio: ['ignore', output, output] })
    running.add(child)
    child.on('error', (error) => {
      console.error(error.message)
      running.delete(child)
      resolve(null)
    })
    child.on('exit', (status) => {
      running.delete(child)
      resolve(status)
    })
  })
}
