import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { discardShared, inSharedMemory, sharedDoubles } from './shared-memory.ts'

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
  const arrays = new Set<Float64Array>()
  const { arrayBuffers } = process.memoryUsage()
  for (let i = 0; i < 8; i++) arrays.add(sharedDoubles(BYTES / 8))
  assert.ok(process.memoryUsage().arrayBuffers >= arrayBuffers + 8 * BYTES)
  for (const array of arrays) {
    arrays.delete(array)
    discardShared(array.byteLength)
  }
  // Collecting goes on in the background.
  while (process.memoryUsage().arrayBuffers >= arrayBuffers + 8 * BYTES) {
    discardShared(BYTES)
    await nextTurn()
  }
})
