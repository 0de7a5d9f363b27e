import assert from 'node:assert/strict'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { leftOut } from './fast-tests.ts'
import { alone } from './test-batches.ts'
import { runStep, type Step } from './test-step.ts'
import { junitCounts, nodeTestStep } from './test-steps.ts'

const root = join(import.meta.dirname, '..')
const shell = (script: string): Step['command'] => {
  return (file) => ['sh', '-c', script, 'sh', file]
}
const readCounts = (text: string) => JSON.parse(text)

test('a check counts as one test, passed or failed by its exit status, and what it printed can be held back', async () => {
  const passing = await runStep({ name: 'check', command: shell('exit 0') }, process.env)
  const failing = await runStep(
    { name: 'check', command: shell('echo a; echo b >&2; exit 3') },
    process.env,
    true,
  )
  const absent = await runStep({ name: 'check', command: () => ['no-such-program-here'] }, process.env)
  assert.deepEqual(passing.counts, { passed: 1, failed: 0, skipped: 0 })
  assert.deepEqual(failing.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual(absent.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual([passing.held, failing.held], ['', 'a\nb\n'])
})

test('a runner that fails without a failed test, or dies before it counts, still counts as a failure', async () => {
  const counts = `echo '{"passed":2,"failed":0,"skipped":1}' > "$1"`
  const unwell = await runStep(
    { name: 'tests', command: shell(`${counts}; exit 1`), readCounts },
    process.env,
  )
  const dead = await runStep(
    { name: 'tests', command: shell(': > "$1"; kill -9 $$'), readCounts },
    process.env,
  )
  const silent = await runStep({ name: 'tests', command: shell('exit 0'), readCounts }, process.env)
  assert.deepEqual(unwell.counts, { passed: 2, failed: 1, skipped: 1 })
  assert.deepEqual(dead.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual(silent.counts, { passed: 0, failed: 1, skipped: 0 })
})

test('every test of every file is counted: passed, failed, skipped, and a file that does not load', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = {
    'some.test.ts': `import { test } from 'node:test'
      test('passes', async (t) => { await t.test('inside', () => {}) })
      test('fails', () => { throw new Error('on purpose') })
      test.skip('is skipped')
      test.todo('is to do')`,
    'broken.test.ts': `import './no-such-file.ts'`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const step = nodeTestStep(
    root,
    Object.keys(files).map((name) => relative(root, join(folder, name))),
  )
  // Within a test run, a nested Node test runner would report to the outer run and write no counts.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const quiet: Step = {
    ...step,
    command: (file) => ['sh', '-c', '"$@" >/dev/null 2>&1', 'sh', ...step.command(file)],
  }
  const { counts } = await runStep(quiet, environment)
  assert.deepEqual(counts, { passed: 2, failed: 2, skipped: 2 })
})

test('every entry of the lists of test files names at least one file', () => {
  const files = globSync('{client-js,console,geodata,scripts,server}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  const unused = [...alone, ...leftOut].filter((start) => !files.some((file) => file.startsWith(start)))
  assert.deepEqual(unused, [])
})

test("pytest's counts are read from its report", () => {
  const report =
    '<testsuites name="x"><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1">'
  assert.deepEqual(junitCounts(report), { passed: 4, failed: 3, skipped: 3 })
})
