import assert from 'node:assert/strict'
import { linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Manifest } from '../snapshot/manifest.ts'
import { acceptOutput } from './accept-output.ts'
import { scratch } from './compile-fixture.ts'

const sha256 = '0'.repeat(64)
const manifest = (...others: string[]): Manifest => ({
  formatVersion: 1,
  rows: 0,
  located: 0,
  columns: [],
  geometryType: null,
  geometryTypes: [],
  hasZ: false,
  bbox: null,
  id: { column: null, type: 'integer' },
  timeColumn: null,
  source: { file: 'a', format: 'csv', crs: null, bytes: 1 },
  notes: [],
  files: Object.fromEntries(
    ['rows.parquet', 'features.pack', 'features.index', ...others].map((name) => [
      name,
      { bytes: 1, sha256 },
    ]),
  ),
})

test('a snapshot with anything but its own plain files is not accepted', async () => {
  const attempts: [name: string, leave: (folder: string) => void][] = [
    ['features.pack', (folder) => symlinkSync('/etc/passwd', join(folder, 'features.pack'))],
    ['rows.parquet', (folder) => linkSync(join(folder, 'manifest.json'), join(folder, 'rows.parquet'))],
    ['exports', (folder) => mkdirSync(join(folder, 'exports'))],
    ['sample.json', (folder) => mkdirSync(join(folder, 'sample.json'))],
    ['other.js', (folder) => writeFileSync(join(folder, 'other.js'), '')],
    ['features.index', (folder) => writeFileSync(join(folder, 'features.index'), 'longer')],
  ]
  for (const [name, leave] of attempts) {
    const folder = mkdtempSync(join(scratch, 'left-'))
    writeFileSync(join(folder, 'manifest.json'), '{}')
    await acceptOutput(folder, manifest())
    leave(folder)
    // A second link makes the file that it links to a shared one, too.
    await assert.rejects(acceptOutput(folder, manifest()), /^Error: compiling left "/, name)
  }
  const folder = mkdtempSync(join(scratch, 'left-'))
  await assert.rejects(acceptOutput(folder, manifest('../../wayleave.db')), /has no valid "files"/)
  await assert.rejects(acceptOutput(folder, manifest('wayleave.db')), /"wayleave\.db"/)
  const wrong = { ...manifest(), located: 1 }
  await assert.rejects(acceptOutput(folder, wrong), /more features with a place than rows/)
})
