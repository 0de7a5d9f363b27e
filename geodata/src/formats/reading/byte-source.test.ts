import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { scratch } from '../reading.test-kit.ts'
import { decompressedSource, fileSource } from './byte-source.ts'
import { DEFAULT_LIMITS } from './source-limits.ts'

test('a file that grows while it is read ends where it ended when it was opened', async (t) => {
  const path = join(scratch(t), 'growing.csv')
  writeFileSync(path, 'a'.repeat(1000))
  const { bytes } = await fileSource(path, 'growing.csv')
  let length = 0
  for await (const piece of bytes) {
    length += piece.length
    appendFileSync(path, 'b'.repeat(1000))
  }
  assert.equal(length, 1000)
})

test('a compressed one does so too', async (t) => {
  const path = join(scratch(t), 'growing.csv.gz')
  const member = gzipSync('a'.repeat(1000))
  writeFileSync(path, member)
  let length = 0
  for await (const piece of decompressedSource(path, 'growing.csv.gz', 'gzip', DEFAULT_LIMITS).bytes) {
    length += piece.length
    appendFileSync(path, member)
  }
  assert.equal(length, 1000)
})
