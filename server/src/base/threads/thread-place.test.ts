import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstThread, servingThreads } from './thread-place.ts'

test('one core is left for jobs, and a thread that serves alone shares nothing', () => {
  const count = (cores: number, settings = {}, platform: NodeJS.Platform = 'linux') =>
    servingThreads({ threads: null, role: 'all', ...settings }, cores, platform)
  assert.deepEqual(
    [1, 2, 3, 8, 64].map((cores) => count(cores)),
    [1, 1, 2, 7, 63],
  )
  assert.equal(count(8, { threads: 3 }), 3)
  assert.equal(count(8, { threads: 3, role: 'worker' }), 1)
  assert.equal(count(8, {}, 'darwin'), 1)
  assert.equal(firstThread(1), undefined)
})
