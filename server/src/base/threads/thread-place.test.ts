import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstThread, servingThreads } from './thread-place.ts'

test('one core is left for jobs, and a thread that serves alone shares nothing', () => {
  const count = (cores: number, settings = {}, platform: NodeJS.Platform = 'linux', gigabytes = 64) =>
    servingThreads({ threads: null, role: 'all', ...settings }, cores, platform, gigabytes * 1024 ** 3)
  assert.deepEqual(
    [1, 2, 3, 8, 64].map((cores) => count(cores)),
    [1, 1, 2, 7, 63],
  )
  assert.equal(count(8, { threads: 3 }), 3)
  assert.equal(count(8, { role: 'api' }), 8, 'no jobs')
  assert.equal(count(64, {}, 'linux', 4), 16, 'a container with a limit of memory only')
  assert.equal(count(64, {}, 'linux', 0.2), 1)
  assert.equal(count(64, { threads: 64 }, 'linux', 4), 64)
  assert.equal(count(8, { threads: 3, role: 'worker' }), 1)
  assert.equal(count(8, {}, 'darwin'), 1)
  assert.equal(firstThread(1), undefined)
})
