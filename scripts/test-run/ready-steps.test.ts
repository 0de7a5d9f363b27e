import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testBatches } from './batches.ts'
import { declaredNeeds, needsNothing } from './needs.ts'
import { readySteps, testSteps } from './steps.ts'

const root = join(import.meta.dirname, '../..')

test('tests that need nothing start before the environment is there, and no test runs twice or not at all', () => {
  const names = (steps: { name: string }[]) => steps.map(({ name }) => name)
  const ready = names(readySteps(root))
  assert.ok(ready.length > 0)
  const later = names(testSteps(root, 'python3', []))
  assert.deepEqual(
    ready.filter((name) => later.includes(name)),
    [],
  )
  const files = globSync(
    '{bench,client-js,console,contract,demo,drills,geodata,query,scripts,server}/**/*.test.ts',
    {
      cwd: root,
      exclude: (path) => path.endsWith('node_modules'),
    },
  )
  const batches = names(testBatches(root, files))
  assert.deepEqual(
    batches.filter((name) => !ready.includes(name) && !later.includes(name)),
    [],
  )
  for (const { files: members, needsNothing: isReady } of testBatches(root, files)) {
    if (!isReady) continue
    const texts = members.map((file) => readFileSync(join(root, file), 'utf8'))
    assert.deepEqual(
      texts.flatMap((text) => declaredNeeds(text)),
      [],
    )
  }
  // Another file of its batch runs a program, or may, by what a single test declares.
  assert.equal(needsNothing("import { lacks } from './needs.ts'\ntest('a', { skip: lacks('gdal') })"), false)
  assert.equal(needsNothing("needs('time')"), false)
  assert.equal(needsNothing('const a = 1'), true)
})
