import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { PROGRAM_FLAGS } from '../program/tested-program.ts'
import { testBatches, writeEntry } from './batches.ts'
import { declaredNeeds } from './needs.ts'
import type { Counts, Step } from './step.ts'

const nodeTestFolders = [
  'contract',
  'geodata',
  'query',
  'server',
  'scripts',
  'client-js',
  'console',
  'demo',
  'bench',
  'drills',
]
/** The second project of client-js checks the sources by what browsers and Node 18 have, without the types of Node. */
const typedProjects = ['client-js/tsconfig.json', 'client-js/tsconfig.build.json', 'console/tsconfig.json']

/** The tests of a full run that are ready to run while its environment is set up. */
export function readySteps(root: string): Step[] {
  return nodeTestSteps(root, findNodeTests(root)).filter(({ needsNothing }) => needsNothing)
}

/**
 * The other tests of a full run and the checks of the Python client; with patterns, only the test files whose path
 * contains one of them.
 */
export function testSteps(root: string, python: string, patterns: string[]): Step[] {
  const matches = (file: string) => patterns.some((pattern) => file.includes(pattern))
  const selected = (files: string[]) => (patterns.length > 0 ? files.filter(matches) : files)
  const nodeTests = selected(findNodeTests(root))
  const pythonTests = selected(find(root, 'client-python/**/test_*.py'))
  return [
    // The first one, because it takes long.
    ...(pythonTests.length > 0 ? [pytestStep(root, python, pythonTests)] : []),
    ...nodeTestSteps(root, nodeTests).filter(({ needsNothing }) => patterns.length > 0 || !needsNothing),
    ...(patterns.length > 0 ? [] : pythonChecks(root, python)),
  ]
}

/** The tests of `npm run test:fast`: all files that need only npm packages. */
export function fastSteps(root: string): Step[] {
  const hasNeeds = (file: string) => declaredNeeds(readFileSync(join(root, file), 'utf8')).length > 0
  return nodeTestSteps(
    root,
    findNodeTests(root).filter((file) => !hasNeeds(file)),
  )
}

function findNodeTests(root: string): string[] {
  return find(root, `{${nodeTestFolders.join(',')}}/**/*.test.ts`)
}

/** One thread for each check: four, as usual, compute some types four times, and the set-up needs the other cores. */
function typeChecks(root: string): Step[] {
  const check = ['tsc', '--noEmit', '--checkers', '1']
  const typed = typedProjects.filter((file) => existsSync(join(root, file)))
  return [
    { name: 'types', command: () => check },
    ...typed.map((file) => ({
      name: `types: ${file.replace('/tsconfig.json', '')}`,
      command: () => [...check, '-p', file],
    })),
  ]
}

/** The checks that need only npm packages. */
export function checks(root: string): Step[] {
  return [
    ...typeChecks(root),
    { name: 'format and lint', command: () => ['biome', 'check', '--error-on-warnings'] },
    { name: 'unused code', command: () => ['knip'] },
    { name: 'layout', command: () => ['depcruise', ...nodeTestFolders] },
  ]
}

function pythonChecks(root: string, python: string): Step[] {
  const cwd = join(root, 'client-python')
  if (!existsSync(join(cwd, 'pyproject.toml'))) return []
  return [
    { name: 'lint: client-python', cwd, command: () => [python, '-m', 'ruff', 'check', '.'] },
    { name: 'format: client-python', cwd, command: () => [python, '-m', 'ruff', 'format', '--check', '.'] },
    { name: 'types: client-python', cwd, command: () => [python, '-m', 'mypy', 'src'] },
  ]
}

/** One step for each batch. */
export function nodeTestSteps(root: string, files: string[]): Step[] {
  return testBatches(root, files).map((batch) => ({
    name: batch.name,
    group: 'tests',
    waits: batch.waits ?? false,
    needsNothing: batch.needsNothing ?? false,
    command: (countsFile) => [
      process.execPath,
      ...PROGRAM_FLAGS,
      // Most of what a test allocates lives short: fewer collections, from the start.
      '--min-semi-space-size=32',
      // What a failed test leaves open must not keep its process alive.
      '--test-force-exit',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(import.meta.dirname, 'count-reporter.ts')}`,
      `--test-reporter-destination=${countsFile}`,
      writeEntry(root, dirname(countsFile), batch),
    ],
    readCounts: (text) => JSON.parse(text),
  }))
}

function pytestStep(root: string, python: string, files: string[]): Step {
  const cwd = join(root, 'client-python')
  const tests = files.map((file) => relative('client-python', file))
  return {
    name: 'tests: client-python',
    cwd,
    environment: { PYTHONPATH: join(cwd, 'src') },
    command: (countsFile) => [python, '-m', 'pytest', `--junitxml=${countsFile}`, ...tests],
    readCounts: junitCounts,
  }
}

export function junitCounts(xml: string): Counts {
  const suite = /<testsuite [^>]*>/.exec(xml)?.[0] ?? ''
  const count = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const failures = xml.matchAll(/<testcase [^>]*? name="([^"]*)"[^>]*><(?:failure|error) message="([^"]*)"/g)
  return {
    passed: count('tests') - failed - count('skipped'),
    failed,
    skipped: count('skipped'),
    failures: [...failures].map(([, name, message]) => `${name}: ${message!.slice(0, 300)}`),
  }
}

function find(root: string, pattern: string): string[] {
  const exclude = (path: string) => /(^|\/)(node_modules|dist|\.venv)$/.test(path)
  return globSync(pattern, { cwd: root, exclude }).sort()
}
