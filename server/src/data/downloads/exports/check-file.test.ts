import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkFile } from './check-file.ts'

test('a file of any size is compared with its checksum', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-check-'))
  try {
    // Small files are hashed here, large ones in a thread.
    for (const size of [0, 300_000, 9_000_000]) {
      const bytes = Buffer.alloc(size, 'abc')
      const path = join(folder, `${size}`)
      writeFileSync(path, bytes)
      assert.equal(await checkFile(path, hash('sha256', bytes)), true, `${size}`)
      writeFileSync(path, Buffer.concat([bytes, Buffer.from('d')]))
      assert.equal(await checkFile(path, hash('sha256', bytes)), false, `${size}, changed`)
    }
    assert.equal(await checkFile(join(folder, 'missing'), hash('sha256', '')), false)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
