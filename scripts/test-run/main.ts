/**
 * `npm test`: starts what the tests need, runs every check and every test, and reports failures. `npm test --
 * <pattern>…` runs only the test files whose path contains a pattern. `npm run test:fast` runs the tests that need
 * no other programs.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { writeAbsentPrograms } from './absent-programs.ts'
import { compiledModules } from './compiled-modules.ts'
import { startTestEnvironment, type TestEnvironment } from './environment.ts'
import { IdleCores } from './queue/idle-cores.ts'
import { repeatStarved } from './queue/repeat-starved.ts'
import { StepQueue } from './queue/step-queue.ts'
import { StolenTime } from './queue/stolen-time.ts'
import { scratchFolder } from './scratch-folder.ts'
import { type Counts, runStep, type Step, type StepResult, stopRunningSteps } from './step.ts'
import { checks, fastSteps, readySteps, testSteps } from './steps.ts'
import { printTimes } from './times.ts'

const root = join(import.meta.dirname, '../..')
/** More processes than cores: many tests wait for other processes, for disks and for time to pass. */
const USUALLY_CONCURRENT = Math.min(2 * availableParallelism() + 1, 8)
/** While the cores are idle. */
const MAX_CONCURRENT = USUALLY_CONCURRENT + 3
/** What each step of the last run printed. */
const outputFolder = join(root, '.cache', 'test-output')
/** The failures of one step that the summary lists: one cause often makes many tests fail. */
const MAX_FAILURES = 5
process.chdir(root)
process.exitCode = await main(process.argv.slice(2))

async function main(patterns: string[]): Promise<number> {
  let signal: NodeJS.Signals | undefined
  let environment: TestEnvironment | undefined
  const stop = (received: NodeJS.Signals) => {
    signal = received
    stopRunningSteps()
    // During startup it is enough to exit: servers that have started end with this process.
    if (!environment) process.exit(statusOf(received))
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)

  const isFast = patterns.includes('--fast')
  rmSync(outputFolder, { recursive: true, force: true })
  mkdirSync(outputFolder, { recursive: true })
  const results: StepResult[] = []
  const scratch = scratchFolder()
  const stolen = new StolenTime()
  const queue = new StepQueue(USUALLY_CONCURRENT)
  const idleCores = new IdleCores(queue, MAX_CONCURRENT)
  const waitingQueue = new StepQueue(1)
  let hasFailed = false
  const run = async (step: Step, variables: Record<string, string>) => {
    if (signal || hasFailed) return
    const result = await runStep(step, stepVariables(variables))
    report(result, { isFast })
    results.push(result)
  }
  const runAll = (steps: Step[], variables: Record<string, string>) =>
    Promise.all(steps.map((step) => (step.waits ? waitingQueue : queue).add(() => run(step, variables))))
  try {
    const temporary: Record<string, string> = scratch ? { TMPDIR: scratch.folder } : {}
    const isFullRun = patterns.length === 0
    // With patterns, and in the fast run, only tests are run, when the environment is there.
    const first = isFullRun ? [runAll(checks(root), {})] : []
    if (isFullRun) first.push(runAll(readySteps(root), { ...(await compiledModules(root)), ...temporary }))
    environment = isFast ? await fastEnvironment() : await startTestEnvironment({ isFullRun })
    const variables = { ...environment.variables, ...temporary }
    const steps = isFast ? fastSteps(root) : testSteps(root, variables['WAYLEAVE_TEST_PYTHON']!, patterns)
    if (steps.length === 0) throw new Error(`No test file matches ${patterns.join(' or ')}.`)
    await Promise.all([...first, runAll(steps, variables)])
    await repeatStarved(results, stolen, (step) => {
      console.log(`\n${step.name} is repeated: the host withheld the processors while it ran.`)
      return run(step, variables)
    })
  } catch (error) {
    hasFailed = true
    stopRunningSteps()
    console.error(error instanceof Error ? error.message : error)
    const counts = { passed: 0, failed: 1, skipped: 0 }
    const step = { name: 'set-up', command: () => [] }
    results.push({ step, from: 0, to: 0, processorSeconds: 0, output: '', counts })
  } finally {
    stolen.stop()
    idleCores.stop()
    await environment?.stop()
    scratch?.remove()
  }
  if (signal) return statusOf(signal)
  printSummary(results)
  return results.some(({ counts }) => counts.failed > 0) ? 1 : 0
}

/** Nothing is started, and other programs are hidden. */
async function fastEnvironment(): Promise<TestEnvironment> {
  const variables = {
    WAYLEAVE_TEST_FAST: 'true',
    ...(await compiledModules(root)),
    PATH: [writeAbsentPrograms(join(root, '.cache', 'absent-programs')), ownPath()].join(delimiter),
  }
  return { variables, stop: async () => {} }
}

/** The developer's own settings of the service must not affect the tests. */
function stepVariables(variables: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYLEAVE_'))
  return { ...Object.fromEntries(own), PATH: ownPath(), ...variables }
}

function ownPath(): string {
  return [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
}

function heading(name: string): void {
  console.log(`\n== ${name} ${'='.repeat(Math.max(3, 76 - name.length))}`)
}

/**
 * Of a step that passed, only the tests that are skipped are printed, with the reason; in the fast run they are many.
 * The whole output of each step is in a file.
 */
function report({ step, counts, from, to, processorSeconds, output }: StepResult, { isFast = false }): void {
  writeFileSync(join(outputFolder, `${step.name.replaceAll(/[^\w.-]+/g, '-')}.txt`), output)
  console.log(line(step.name, (to - from) / 1000, processorSeconds, counts))
  if (counts.failed > 0) process.stdout.write(output)
  else if (!isFast) for (const [skipped] of output.matchAll(/^\s*﹣ .*$/gm)) console.log(skipped)
}

function printSummary(results: StepResult[]): void {
  heading('summary')
  const groups = Map.groupBy(results, ({ step }) => step.group ?? step.name)
  for (const [name, members] of groups) {
    const counts = sumOf(members)
    const from = Math.min(...members.map((result) => result.from))
    const seconds = (Math.max(...members.map((result) => result.to)) - from) / 1000
    const processor = members.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0)
    console.log(line(name, seconds, processor, counts))
    for (const { step, counts } of members) {
      if (step.group && counts.failed > 0) console.log(`        ${step.name}: ${inWords(counts)}`)
      for (const failure of counts.failures?.slice(0, MAX_FAILURES) ?? []) console.log(`          ${failure}`)
    }
  }
  printTimes(results, { root, outputFolder })
  console.log(`\n${inWords(sumOf(results))}`)
}

function line(name: string, seconds: number, processor: number, counts: Counts): string {
  const verdict = counts.failed > 0 ? 'FAILED' : 'passed'
  const times = `${column(seconds)} s  processor ${column(processor)} s`
  return `${verdict}  ${name.padEnd(50)} ${times}  ${inWords(counts)}`
}

function column(seconds: number): string {
  return seconds.toFixed(1).padStart(7)
}

function sumOf(results: StepResult[]): Counts {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { counts } of results) {
    sum.passed += counts.passed
    sum.failed += counts.failed
    sum.skipped += counts.skipped
  }
  return sum
}

function inWords({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** The exit status that shells use for a program that was ended by a signal: 128 plus the signal's number. */
function statusOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
