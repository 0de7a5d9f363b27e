import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ResponseReader } from './response-reader.ts'

const body = fc.uint8Array({ maxLength: 300 })

const withLength = fc.tuple(fc.constantFrom(200, 206, 404), body).map(([status, bytes]) => ({
  status,
  bytes: Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Some\r\nX: y\r\nContent-Length: ${bytes.length}\r\n\r\n`),
    bytes,
  ]),
}))

const chunked = fc.array(body.filter((bytes) => bytes.length > 0)).map((chunks) => ({
  status: 200,
  bytes: Buffer.concat([
    Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'),
    ...chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('0\r\nTrailer: z\r\n\r\n'),
  ]),
}))

const bodyless = fc.constantFrom(
  { status: 204, bytes: Buffer.from('HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n') },
  { status: 304, bytes: Buffer.from('HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n') },
)

test('every response is parsed once and in order, however the connection splits the bytes', () => {
  const answers = fc.array(fc.oneof(withLength, chunked, bodyless), { maxLength: 6 })
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 })
  fc.assert(
    fc.property(answers, cuts, (expected, sizes) => {
      const found: number[] = []
      const reader = new ResponseReader((status) => found.push(status))
      const all = Buffer.concat(expected.map(({ bytes }) => bytes))
      for (let at = 0, i = 0; at < all.length; i++) {
        const size = sizes[i % sizes.length]!
        reader.take(Buffer.from(all.subarray(at, at + size)))
        at += size
      }
      assert.deepEqual(
        found,
        expected.map(({ status }) => status),
      )
    }),
  )
})

test('bytes that are not a response are rejected at once', () => {
  const reader = new ResponseReader(() => {})
  assert.throws(() => reader.take(Buffer.from('SSH-2.0-x\r\n\r\n')), /Not a response/)
})
