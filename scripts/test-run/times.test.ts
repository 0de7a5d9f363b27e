import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Step } from './step.ts'
import { printTimes } from './times.ts'

test('the tests and files that took the most processor time are printed first, and all are in a table', (t) => {
  const outputFolder = mkdtempSync(join(tmpdir(), 'wayleave-times-'))
  t.after(() => rmSync(outputFolder, { recursive: true }))
  const time = (file: string, name: string, seconds: number) => ({ file: join('/a', file), name, seconds })
  const times = [
    time('b.test.ts', 'quick', 0.1),
    time('c.test.ts', 'long', 2),
    time('b.test.ts', 'longer', 3),
    time('../tmp/entry.test.mjs', 'load', 1),
  ]
  const step: Step = { name: 'tests', command: () => [] }
  const counts = { passed: 3, failed: 0, skipped: 0, times }
  const lines: string[] = []
  t.mock.method(console, 'log', (line: string) => lines.push(...line.split('\n')))
  printTimes([{ step, from: 0, to: 1, processorSeconds: 6, output: '', counts }], {
    root: '/a',
    outputFolder,
  })
  t.mock.reset()
  assert.equal(
    readFileSync(join(outputFolder, 'processor-time.tsv'), 'utf8'),
    '3.000\tb.test.ts\tlonger\n2.000\tc.test.ts\tlong\n1.000\tloading all test files\tload\n0.100\tb.test.ts\tquick\n',
  )
  const tests = ['    3.0 s  longer', '    2.0 s  long', '    1.0 s  load', '    0.1 s  quick']
  const files = ['    3.1 s  b.test.ts', '    2.0 s  c.test.ts', '    1.0 s  loading all test files']
  assert.deepEqual(
    lines.filter((line) => /^ .*(quick|long|load|test\.ts)/.test(line)),
    [...tests, ...files],
  )
})
