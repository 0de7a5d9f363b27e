import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { endedProcessorSeconds } from './processor-time.ts'
import type { StepResult, TestTime } from './step.ts'

/** How many of the tests and of the files that took the most processor time are printed. */
const MAX_PRINTED = 15
/** The tests of a run that took the most processor time first. */
const TABLE = 'processor-time.tsv'

/** Where it pays to save: prints the tests and files that took the most processor time, and writes all to a table. */
export function printTimes(
  results: StepResult[],
  { root, outputFolder }: { root: string; outputFolder: string },
): void {
  const steps = results.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0)
  const name = 'PostgreSQL, Redis, the S3 server and the set-up'
  const shared = { file: '', name, seconds: endedProcessorSeconds() - steps }
  const tests = results
    .flatMap(({ counts }) => counts.times ?? [])
    .map((test) => ({ ...test, file: nameOf(relative(root, test.file)) }))
    .toSorted(slowerFirst)
  const rows = tests.map(({ file, name, seconds }) => `${seconds.toFixed(3)}\t${file}\t${name}\n`)
  writeFileSync(join(outputFolder, TABLE), rows.join(''))
  console.log(`\nMost processor time of tests (all are in ${relative(root, join(outputFolder, TABLE))}):`)
  for (const { name, seconds } of [shared, ...tests.slice(0, MAX_PRINTED)])
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
  console.log('\nMost processor time of files:')
  for (const { file, seconds } of timesOfFiles(tests).slice(0, MAX_PRINTED))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`)
}

/** The test that loads the files of a batch is registered by a temporary file. */
function nameOf(path: string): string {
  return path.startsWith('..') ? 'loading all test files' : path
}

function timesOfFiles(tests: TestTime[]): { file: string; seconds: number }[] {
  return [...Map.groupBy(tests, ({ file }) => file)]
    .map(([file, members]) => ({ file, seconds: members.reduce((sum, { seconds }) => sum + seconds, 0) }))
    .toSorted(slowerFirst)
}

function slowerFirst(a: { seconds: number }, b: { seconds: number }): number {
  return b.seconds - a.seconds
}
