import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFully } from './read-fully.ts'

test('bytes that arrive in pieces are read to the end of the buffer or of the file', async () => {
  const content = Uint8Array.from({ length: 10 }, (_, i) => i)
  const file = {
    read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
      const piece = content.subarray(position, position + Math.min(length, 3))
      buffer.set(piece, offset)
      return { bytesRead: piece.length }
    },
  }
  const whole = new Uint8Array(8)
  assert.equal(await readFully(file, whole, 1), 8)
  assert.deepEqual(whole, content.subarray(1, 9))
  assert.equal(await readFully(file, whole, 5), 5)
  assert.equal(await readFully(file, new Uint8Array(0), 5), 0)
})
