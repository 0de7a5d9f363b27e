/**
 * `npm test`: starts what the tests need, runs every check and every test, and reports failures. `npm test --
 * <pattern>…` runs only the test files whose path contains a pattern. `npm run test:fast` checks the types and
 * runs the tests that need no other programs.
 */
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { startTestEnvironment, type TestEnvironment } from './test-environment.ts'
import { bundlePackages } from './test-packages.ts'
import { runStep, type Step, type StepResult, stopRunningSteps } from './test-step.ts'
import { checks, fastSteps, testSteps, typeChecks } from './test-steps.ts'

const root = join(import.meta.dirname, '..')
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

  const results: StepResult[] = []
  try {
    const isFast = patterns.includes('--fast')
    // The checks need no environment, and run while it is set up.
    const checking = runAtOnce(checksOf(isFast, patterns), stepVariables({}))
    environment = isFast
      ? await fastEnvironment()
      : await startTestEnvironment({ isFullRun: patterns.length === 0 })
    results.push(...(await checking))
    const steps = isFast
      ? fastSteps(root)
      : testSteps(root, environment.variables['WAYLEAVE_TEST_PYTHON']!, patterns)
    if (steps.length === 0) throw new Error(`No test file matches ${patterns.join(' or ')}.`)
    if (!signal) results.push(...(await runAtOnce(steps, stepVariables(environment.variables))))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    results.push({ name: 'set-up', seconds: 0, held: '', counts: { passed: 0, failed: 1, skipped: 0 } })
  } finally {
    await environment?.stop()
  }
  if (signal) return statusOf(signal)
  printSummary(results)
  return results.some(({ counts }) => counts.failed > 0) ? 1 : 0
}

/** With patterns, only tests are run. */
function checksOf(isFast: boolean, patterns: string[]): Step[] {
  if (isFast) return typeChecks(root)
  return patterns.length > 0 ? [] : checks(root)
}

/** Nothing is started. Compiled modules are kept for the next run. */
async function fastEnvironment(): Promise<TestEnvironment> {
  const cache = join(root, '.cache', 'test-modules')
  const variables = {
    WAYLEAVE_TEST_FAST: 'true',
    NODE_COMPILE_CACHE: cache,
    NODE_OPTIONS: await bundlePackages(root, join(cache, 'packages')),
  }
  return { variables, stop: async () => {} }
}

/** Streams the output of the first step, and buffers that of the others until those before have ended. */
async function runAtOnce([first, ...others]: Step[], variables: NodeJS.ProcessEnv): Promise<StepResult[]> {
  if (!first) return []
  heading(first.name)
  const running = [runStep(first, variables), ...others.map((step) => runStep(step, variables, true))]
  const results: StepResult[] = []
  for (const [i, one] of running.entries()) {
    const result = await one
    if (i > 0) heading(result.name)
    process.stdout.write(result.held)
    results.push(result)
  }
  return results
}

/** The developer's own settings of the service must not affect the tests. */
function stepVariables(variables: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('WAYLEAVE_'))
  const path = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  return { ...Object.fromEntries(own), ...variables, PATH: path }
}

function heading(name: string): void {
  console.log(`\n== ${name} ${'='.repeat(Math.max(3, 76 - name.length))}`)
}

function printSummary(results: StepResult[]): void {
  heading('summary')
  for (const { name, seconds, counts } of results) {
    const verdict = counts.failed > 0 ? 'FAILED' : 'passed'
    console.log(`${verdict}  ${name.padEnd(26)} ${seconds.toFixed(1).padStart(7)} s  ${inWords(counts)}`)
  }
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const { counts } of results) {
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
  }
  console.log(`\n${inWords(total)}`)
}

function inWords({ passed, failed, skipped }: StepResult['counts']): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** The exit status that shells use for a program that was ended by a signal: 128 plus the signal's number. */
function statusOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
