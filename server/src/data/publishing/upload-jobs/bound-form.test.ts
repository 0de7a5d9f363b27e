import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { boundParts } from './bound-form.ts'

function form(parts: number, boundary = 'b'): Buffer {
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\na --${boundary} in a text\r\n`
  return Buffer.from(`${part.repeat(parts)}--${boundary}--\r\n`)
}

function inChunks(bytes: Buffer, length: number): Readable {
  const count = Math.ceil(bytes.length / length)
  return Readable.from(Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length)))
}

test('a form is passed on as it is up to the max number of parts, and refused beyond', async () => {
  for (const length of [1, 2, 3, 7, 64, 100_000]) {
    const sent = form(10, 'a boundary')
    const passed = inChunks(sent, length).pipe(boundParts('a boundary', 10))
    assert.deepEqual(await buffer(passed), sent, `chunks of ${length}`)
    const tooMany = inChunks(form(11, 'a boundary'), length).pipe(boundParts('a boundary', 10))
    await assert.rejects(buffer(tooMany), {
      code: 'body-too-large',
      detail: 'A form may have at most 10 parts.',
    })
  }
})

test('nothing of a chunk with too many parts reaches the parser', async () => {
  const bounded = boundParts('b', 46)
  let passed = 0
  bounded.on('data', (chunk: Buffer) => {
    passed += chunk.length
  })
  bounded.on('error', () => {})
  bounded.end(form(900))
  await new Promise((resolve) => bounded.once('close', resolve))
  assert.equal(passed, 0)
})
