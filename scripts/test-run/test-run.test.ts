import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, relative } from 'node:path'
import { test } from 'node:test'
import { writeAbsentPrograms } from './absent-programs.ts'
import { alone, testBatches, waiting } from './batches.ts'
import { declaredNeeds } from './needs.ts'
import { repeatStarved } from './queue/repeat-starved.ts'
import { StepQueue } from './queue/step-queue.ts'
import { StolenTime } from './queue/stolen-time.ts'
import { runStep, type Step, type StepResult } from './step.ts'
import { junitCounts, nodeTestSteps } from './steps.ts'

const root = join(import.meta.dirname, '../..')
const shell = (script: string): Step['command'] => {
  return (file) => ['sh', '-c', script, 'sh', file]
}
/** Takes 0.2 s of processor time. To ask for it takes time of the system, so it is asked seldom. */
const BURN =
  'for (const end = process.cpuUsage().user + 200_000; process.cpuUsage().user < end; ) for (let i = 0; i < 1e6; i++);'
const readCounts = (text: string) => JSON.parse(text)

test('a check counts as one test, passed or failed by its exit status, and its output is kept', async () => {
  const passing = await runStep({ name: 'check', command: shell('exit 0') }, process.env)
  const failing = await runStep({ name: 'check', command: shell('echo a; echo b >&2; exit 3') }, process.env)
  const absent = await runStep({ name: 'check', command: () => ['no-such-program-here'] }, process.env)
  assert.deepEqual(passing.counts, { passed: 1, failed: 0, skipped: 0 })
  assert.deepEqual(failing.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual(absent.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual([passing.output, failing.output], ['', 'a\nb\n'])
  assert.match(absent.output, /no-such-program-here/)
})

test('the processor time of a step is that of all its processes', {
  skip: !existsSync('/proc/self/stat'),
}, async () => {
  const inChild = shell(`${process.execPath} --eval '${BURN}'; true`)
  const { processorSeconds } = await runStep({ name: 'busy', command: inChild }, process.env)
  assert.ok(processorSeconds >= 0.2, String(processorSeconds))
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
    'broken.test.ts': `import '../no-such-file.ts'`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const [step] = nodeTestSteps(
    root,
    Object.keys(files).map((name) => relative(root, join(folder, name))),
  )
  // Within a test run, a nested Node test runner would report to the outer run and write no counts.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const { counts, output } = await runStep(step!, environment)
  const { failures, times, ...numbers } = counts
  assert.deepEqual(
    times!.map(({ file, name }) => [basename(file), name]),
    [
      ['entry.test.mjs', 'the test files of this batch load'],
      ['some.test.ts', 'passes'],
      ['some.test.ts', 'fails'],
      ['some.test.ts', 'is skipped'],
      ['some.test.ts', 'is to do'],
    ],
  )
  assert.deepEqual(numbers, { passed: 2, failed: 2, skipped: 2 })
  assert.match(failures![0]!, /^the test files of this batch load: Cannot find module/)
  assert.equal(failures![1], 'fails: on purpose')
  assert.match(output, /on purpose/)
})

test('an error that nothing catches fails the batch, and the tests of a suite stay inside it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'late.test.ts')
  const run = async (text: string) => {
    writeFileSync(file, `import { describe, test } from 'node:test'\n${text}`)
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    return runStep(nodeTestSteps(root, [relative(root, file)])[0]!, environment)
  }
  const suite = await run(`describe('outer', () => {
    test('inner', async () => { await null; await new Promise(setImmediate) })
  })`)
  const { times: _, ...counts } = suite.counts
  assert.deepEqual(counts, { passed: 2, failed: 0, skipped: 0, failures: [] })
  assert.match(suite.output, /outer\n {2}✔ inner/)
  for (const late of ['throw new Error()', 'void Promise.reject(new Error())']) {
    const { counts } = await run(`test('passes', async () => {
      await new Promise(setImmediate)
      setImmediate(() => { ${late} })
      await new Promise((resolve) => setTimeout(resolve, 1))
    })`)
    assert.ok(counts.failed > 0, late)
  }
})

test('the processor time of each test is reported, with that of its child processes', {
  skip: !existsSync('/proc/self/stat'),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'slow.test.ts')
  writeFileSync(
    file,
    `import { execFileSync } from 'node:child_process'
    import { test } from 'node:test'
    const turn = () => new Promise((resolve) => setTimeout(resolve, 20))
    test('is quick', turn)
    test('takes long', async () => {
      await turn()
      ${BURN}
      execFileSync(process.execPath, ['--eval', '${BURN}'])
    })`,
  )
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const { counts } = await runStep(nodeTestSteps(root, [relative(root, file)])[0]!, environment)
  const [, quick, long] = counts.times!
  assert.deepEqual([quick!.name, long!.name], ['is quick', 'takes long'])
  assert.ok(quick!.seconds < 0.4, String(quick!.seconds))
  assert.ok(long!.seconds >= 0.4, String(long!.seconds))
})

test('the times at which the host withholds the processors are noted', () => {
  const stolen = new StolenTime(() => ({ total: 0, stolen: 0 }))
  stolen.stop()
  stolen.note({ total: 200, stolen: 60 }, 10_000)
  assert.equal(stolen.wasStarved(0, 100_000), false)
  stolen.note({ total: 400, stolen: 180 }, 11_000)
  assert.deepEqual(
    [stolen.wasStarved(10_500, 10_900), stolen.wasStarved(11_500, 12_000), stolen.wasStarved(5000, 9000)],
    [true, false, false],
  )
})

test('a starved machine is waited for, but not without end', async () => {
  const stolen = new StolenTime(() => ({ total: 0, stolen: 0 }))
  stolen.stop()
  await stolen.recovered(60_000, 60_000)
  stolen.note({ total: 100, stolen: 90 })
  const from = performance.now()
  await stolen.recovered(60, 60_000)
  assert.ok(performance.now() - from >= 50)
  stolen.note({ total: 200, stolen: 180 })
  await stolen.recovered(60_000, 10)
})

test('only what failed on a starved machine is repeated, and its result replaced', async () => {
  const result = (name: string, failed: number, from: number): StepResult => {
    const step: Step = { name, command: () => [] }
    return {
      step,
      from,
      to: from + 1,
      processorSeconds: 0,
      output: '',
      counts: { passed: 1, failed, skipped: 0 },
    }
  }
  const results = [
    result('wrong', 1, 0),
    result('passed', 0, 10),
    result('once', 1, 10),
    result('always', 1, 10),
  ]
  const repeated: string[] = []
  const stolen = { wasStarved: (from: number) => from === 10, recovered: async () => {} }
  await repeatStarved(results, stolen, async (step) => {
    repeated.push(step.name)
    results.push(result(step.name, step.name === 'always' ? 1 : 0, 10))
  })
  assert.deepEqual(repeated, ['once', 'always', 'always', 'always'])
  assert.deepEqual(
    results.map(({ step, counts }) => [step.name, counts.failed]),
    [
      ['wrong', 1],
      ['passed', 0],
      ['once', 0],
      ['always', 1],
    ],
  )
})

test('the queue runs at most so many steps at a time, in order', async () => {
  const queue = new StepQueue(2)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const add = (name: string) =>
    queue.add(async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const [a, b, c] = [add('a'), add('b'), add('c')]
  assert.deepEqual(started, ['a', 'b'])
  ends.get('b')!()
  await b
  assert.deepEqual(started, ['a', 'b', 'c'])
  ends.get('a')!()
  ends.get('c')!()
  await Promise.all([a, c])
})

test('every entry of the lists of test files names at least one file', () => {
  const files = globSync('{client-js,console,drills,geodata,query,scripts,server}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  const unused = [...alone, ...waiting].filter((start) => !files.some((file) => file.startsWith(start)))
  assert.deepEqual(unused, [])
})

test('every test file is in one batch, and a file with hooks is the only one of its batch', () => {
  const files = globSync('{client-js,console,drills,geodata,query,scripts,server}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules'),
  })
  const batches = testBatches(root, files)
  assert.deepEqual(batches.flatMap((batch) => batch.files).sort(), files.sort())
  const hooked = batches.filter(({ files }) =>
    files.some((file) =>
      /^(before|after|beforeEach|afterEach)\(/m.test(readFileSync(join(root, file), 'utf8')),
    ),
  )
  assert.ok(hooked.length > 0)
  for (const { files } of hooked) assert.equal(files.length, 1)
  const beside = batches.filter(({ waits }) => waits).map(({ name }) => name)
  assert.deepEqual(
    beside,
    waiting.map((start) => `${start}.test.ts`),
  )
})

test('the needs that a test file declares are read from its text', () => {
  const text = ['const a = 1', "needs('gdal', 'python')", '', "  needs('redis')"].join('\n')
  assert.deepEqual(declaredNeeds(text), ['gdal', 'python'])
  // A declaration that cannot be read fails in the fast run. One of a helper would concern all tests that use it.
  const helpers = globSync('{client-js,console,drills,geodata,query,server}/**/*.ts', {
    cwd: root,
    exclude: (path) => /(node_modules|\.test\.ts)$/.test(path),
  })
  const declaring = helpers.filter((file) => /^needs\(/m.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(declaring, [])
})

test('the fast run has none of the programs that a test must declare, and a file with needs fails in it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-absent-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const PATH = [writeAbsentPrograms(folder), process.env['PATH']].join(delimiter)
  const step = { name: 'gdal', command: () => ['ogr2ogr', '--version'] }
  const { counts, output } = await runStep(step, { ...process.env, PATH })
  assert.equal(counts.failed, 1)
  assert.match(output, /must declare that it needs 'gdal'/)
  const source = `import { lacks, needs } from '${join(import.meta.dirname, 'needs.ts')}'
    console.log(lacks('redis', 's3')); needs('redis')`
  const run = (fast: string) =>
    runStep(
      { name: 'needs', command: () => [process.execPath, '--input-type=module', '--eval', source] },
      { ...process.env, WAYLEAVE_TEST_FAST: fast },
    )
  assert.match(
    (await run('true')).output,
    /^needs Redis and an S3 server\n[\s\S]*should have left this file out/,
  )
  assert.equal((await run('')).output, 'false\n')
})

test("pytest's counts are read from its report", () => {
  const report =
    '<testsuites name="x"><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1">' +
    '<testcase classname="tests.a" name="test_a" time="1" /><testcase classname="tests.a" name="test_b" time="1">' +
    '<failure message="assert 1 == 2">…</failure></testcase>'
  const failures = ['test_b: assert 1 == 2']
  assert.deepEqual(junitCounts(report), { passed: 4, failed: 3, skipped: 3, failures })
})
