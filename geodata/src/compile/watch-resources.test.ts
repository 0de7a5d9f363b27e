import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch } from './compile-fixture.ts'
import {
  type Exceeded,
  type ResourceLimits,
  residentBytes,
  resourceLimitsOf,
  watchResources,
} from './watch-resources.ts'

function exceeded(limits: ResourceLimits): Promise<Exceeded> {
  return new Promise((resolve) => watchResources(limits, resolve, 10))
}

test('a job that writes too much is reported with the limit, also if it writes into folders inside', async () => {
  const folder = join(scratch, 'written')
  mkdirSync(join(folder, 'staging', 'spill'), { recursive: true })
  const found = exceeded({ folders: [folder], maxBytes: 3 << 20 })
  writeFileSync(join(folder, 'a'), Buffer.alloc(2 << 20))
  writeFileSync(join(folder, 'staging', 'spill', 'b'), Buffer.alloc(2 << 20))
  const { resource, reason } = await found
  assert.equal(resource, 'written')
  assert.match(reason, /wrote more than 3 MB to the disk.*WAYLEAVE_MAX_EXPANSION/)
})

test('a disk that gets full is reported with the limit', async () => {
  const { resource, reason } = await exceeded({ folders: [scratch], minFreeBytes: 2 ** 60 })
  assert.equal(resource, 'disk')
  assert.match(reason, /are free on the disk, the limit of WAYLEAVE_MIN_FREE_BYTES$/)
})

test('the memory of a process and of those that it started is reported with the limit', {
  skip: !existsSync('/proc/self/task'),
}, async () => {
  // The child of the child holds the memory.
  const hold = `const held = Buffer.alloc(100 << 20, 1); console.log(held.length); setInterval(() => {}, 1000)`
  const start = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}], { stdio: 'inherit' })`
  const child = spawn(process.execPath, ['-e', start], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  try {
    await once(child.stdout!, 'data')
    assert.ok((await residentBytes(child.pid!)) > 150 << 20)
    const { resource, reason } = await exceeded({ folders: [], pid: child.pid!, maxResidentBytes: 100 << 20 })
    assert.equal(resource, 'memory')
    assert.match(reason, /took more than 100 MB of memory.*WAYLEAVE_PUBLISH_MEMORY/)
  } finally {
    process.kill(-child.pid!, 'SIGKILL')
  }
})

test('within the limits nothing is reported, and a stopped watch ends', async () => {
  let count = 0
  const limits = { folders: [scratch, join(scratch, 'missing')], maxBytes: 2 ** 50, minFreeBytes: 0 }
  const stop = watchResources({ ...limits, pid: process.pid, maxResidentBytes: 2 ** 50 }, () => count++, 1)
  await new Promise((resolve) => setImmediate(resolve))
  stop()
  assert.equal(count, 0)
  const path = join(scratch, 'small.csv')
  writeFileSync(path, 'a,b\n1,2\n')
  const own = await resourceLimitsOf({
    path,
    folder: scratch,
    memoryMegabytes: 1000,
    limits: { minFreeBytes: 5 },
  })
  assert.deepEqual(own, {
    folders: [scratch],
    maxBytes: 16 * 2 ** 30,
    minFreeBytes: 5,
    maxResidentBytes: 2000 * 2 ** 20,
  })
  assert.equal(await residentBytes(2 ** 30), 0)
})
