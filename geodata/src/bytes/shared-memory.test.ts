import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { inSharedMemory } from './shared-memory.ts'

const BYTES = 16 << 20

test('arrays are copied to shared memory with their values, and others stay', () => {
  const shared = Int32Array.from([1, -2])
  const values = { codes: Uint16Array.of(1, 65_535), large: BigInt64Array.of(-1n), texts: ['a'], shared }
  const copy = inSharedMemory({ ...values, codes: values.codes.subarray(1) })
  assert.deepEqual(copy, { ...values, codes: Uint16Array.of(65_535) })
  for (const part of [copy.codes, copy.large, copy.shared])
    assert.ok(part.buffer instanceof SharedArrayBuffer)
  assert.equal(inSharedMemory(copy).codes, copy.codes)
})

test('memory that was discarded is collected without other garbage', async () => {
  // In a process of its own: what other tests leave behind would decide when V8 collects.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { discardShared, sharedDoubles } from ${JSON.stringify(import.meta.resolve('./shared-memory.ts'))}
     const before = process.memoryUsage().arrayBuffers
     const used = () => process.memoryUsage().arrayBuffers - before
     let arrays = Array.from({ length: 8 }, () => sharedDoubles(${BYTES / 8}))
     const most = used()
     arrays = null
     for (let round = 0; round < 1000 && used() >= most; round++) {
       discardShared(${BYTES})
       // Collecting goes on in the background.
       await new Promise(setImmediate)
     }
     console.log(most >= 8 * ${BYTES}, used() < most)`,
  ])
  assert.equal(stdout, 'true true\n')
})
