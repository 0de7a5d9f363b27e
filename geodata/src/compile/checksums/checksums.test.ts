import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checksumsHere, checksumsInThread } from './checksums.ts'

let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wayleave-checksums-'))
})

after(() => rm(folder, { recursive: true }))

test('files that are written at the same time have the checksums of the finished files', async () => {
  const thread = checksumsInThread()
  const paths = ['one', 'two'].map((name) => join(folder, name))
  const growing = paths.map((path) => thread.follow(path))
  for (const bytes of [1, 300_000, 1 << 20, (1 << 20) + 1, 5].map((size) => randomBytes(size))) {
    for (const [i, path] of paths.entries()) {
      await appendFile(path, bytes.subarray(i))
      growing[i]!.written(bytes.subarray(i))
    }
  }
  for (const [i, path] of paths.entries()) {
    const expected = await checksumsHere.of(path)
    assert.deepEqual(await growing[i]!.finish(), expected)
    assert.deepEqual(await thread.of(path), expected)
  }
})

test('a file that cannot be read is an error when its checksums are needed', async () => {
  const path = join(folder, 'lost')
  const growing = checksumsInThread().follow(path)
  await appendFile(path, 'x')
  await unlink(path)
  growing.written(Buffer.from('x'))
  await assert.rejects(growing.finish(), /ENOENT/)
})
