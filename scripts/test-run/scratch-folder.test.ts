import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchFolder } from './scratch-folder.ts'

const ENOUGH = 2 ** 40

test('temporary files are in memory if there is enough, and what a killed run left there is removed', (t) => {
  const memory = mkdtempSync(join(tmpdir(), 'wayleave-memory-'))
  t.after(() => rmSync(memory, { recursive: true }))
  // The highest number that Linux gives to a process is 4,194,304.
  const abandoned = join(memory, 'wayleave-tests-4194305-abc')
  const ofOthers = [join(memory, `wayleave-tests-${process.ppid}-abc`), join(memory, 'others')]
  for (const folder of [abandoned, ...ofOthers]) mkdirSync(folder)

  assert.equal(scratchFolder(memory, 2 ** 30), null)
  assert.equal(scratchFolder(join(memory, 'absent'), ENOUGH), null)
  assert.deepEqual([abandoned, ...ofOthers].map(existsSync), [false, true, true])

  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < 2 ** 33) return t.skip('the disk is too full to look like memory')
  const scratch = scratchFolder(memory, ENOUGH)!
  writeFileSync(join(scratch.folder, 'file'), '')
  scratch.remove()
  assert.equal(existsSync(scratch.folder), false)
})
