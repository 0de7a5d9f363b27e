import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { cleanUp } from '../../testing/cleanup.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { tryLock } from './file-lock.ts'

const ROUNDS = 500

test('one of those that take a lock at the same moment gets it', async (t) => {
  const folder = temporaryFolder(t)
  const threads = [1, 2].map(
    () => new Worker(new URL('../../testing/processes/take-lock-thread.ts', import.meta.url)),
  )
  cleanUp(t, () => Promise.all(threads.map((thread) => thread.terminate())))
  const ask = (message: { take: string } | 'release') =>
    Promise.all(
      threads.map(async (thread) => {
        thread.postMessage(message)
        return (await once(thread, 'message'))[0] as boolean
      }),
    )
  for (let round = 0; round < ROUNDS; round++) {
    // Each file is new the first time and exists the second time.
    const taken = await ask({ take: join(folder, `lock-${round >> 1}`) })
    assert.equal(taken.filter(Boolean).length, 1, `round ${round}`)
    await ask('release')
  }
})

test('a lock that is held is refused until it is released', (t) => {
  const path = join(temporaryFolder(t), 'lock')
  const release = tryLock(path)
  assert.ok(release)
  assert.equal(tryLock(path), null)
  release()
  const again = tryLock(path)
  assert.ok(again)
  again()
})
