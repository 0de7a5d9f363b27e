import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endedProcessorSeconds } from './processor-time.ts'

export interface Counts {
  passed: number
  failed: number
  skipped: number
  /** The names and the first words of the tests that failed, if the runner reports them. */
  failures?: string[]
  /** The processor time of each test that is not inside another one, if the runner reports it. */
  times?: TestTime[]
}

export interface TestTime {
  /** The file that registers the test. */
  file: string
  name: string
  /** Those of its child processes that have ended are part of it. The first test of a file also loads its modules. */
  seconds: number
}

/** One command of the full test run. */
export interface Step {
  name: string
  /** The steps of a group are one line of the summary. */
  group?: string
  /** Whether it runs beside the others, because it waits most of the time. */
  waits?: boolean
  /** Whether it runs while the environment is set up. */
  needsNothing?: boolean
  /** The program and its arguments. If it has its own counts, it writes them to the given file. */
  command(countsFile: string): string[]
  /** If missing, the command is a check and counts as one test. */
  readCounts?(text: string): Counts
  cwd?: string
  environment?: Record<string, string>
}

export interface StepResult {
  step: Step
  /** When it started and ended, in milliseconds of the clock of `performance`. */
  from: number
  to: number
  /** The processor time of all its processes, except those that outlive it. */
  processorSeconds: number
  counts: Counts
  /** What the command printed. */
  output: string
}

/** A command that hangs fails, instead of blocking the whole run. */
const MAX_MS = 30 * 60_000

const running = new Set<ChildProcess>()
/** What the steps that have ended took. */
let countedProcessorSeconds = endedProcessorSeconds()

/** Ends the running commands, so that their steps end too. */
export function stopRunningSteps(): void {
  for (const child of running) child.kill('SIGTERM')
}

export async function runStep(step: Step, environment: NodeJS.ProcessEnv): Promise<StepResult> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-step-'))
  const countsFile = join(folder, 'counts')
  const outputFile = join(folder, 'output')
  const from = performance.now()
  const target = openSync(outputFile, 'a')
  try {
    const { status, processorSeconds } = await run(step, step.command(countsFile), environment, target)
    const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
    const written = existsSync(countsFile) ? readFileSync(countsFile, 'utf8') : ''
    if (!step.readCounts) counts.passed = status === 0 ? 1 : 0
    // A test runner that was killed leaves the file empty.
    else if (written !== '') Object.assign(counts, step.readCounts(written))
    // A command that fails outside its tests, for example while loading them, must not look like a success.
    if (counts.failed === 0 && (status !== 0 || counts.passed + counts.skipped === 0)) counts.failed = 1
    const output = readFileSync(outputFile, 'utf8')
    return { step, from, to: performance.now(), processorSeconds, counts, output }
  } finally {
    closeSync(target)
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(
  step: Step,
  [program, ...args]: string[],
  environment: NodeJS.ProcessEnv,
  output: number,
): Promise<{ status: number | null; processorSeconds: number }> {
  return new Promise((resolve) => {
    const env = { ...environment, ...step.environment }
    const child = spawn(program!, args, { cwd: step.cwd, env, stdio: ['ignore', output, output] })
    const timer = setTimeout(() => {
      writeSync(output, `\nEnded after ${MAX_MS / 60_000} minutes.\n`)
      child.kill('SIGKILL')
    }, MAX_MS)
    running.add(child)
    const end = (status: number | null) => {
      clearTimeout(timer)
      running.delete(child)
      const before = countedProcessorSeconds
      countedProcessorSeconds = endedProcessorSeconds()
      resolve({ status, processorSeconds: countedProcessorSeconds - before })
    }
    child.on('error', (error) => {
      writeSync(output, `${error.message}\n`)
      end(null)
    })
    child.on('exit', end)
  })
}
