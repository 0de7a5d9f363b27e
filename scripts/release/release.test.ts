import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dateChangelog, readChangelog, requireReleased } from './changelog.ts'
import { commonVersion, readVersions, writeVersion } from './versions.ts'

const root = join(import.meta.dirname, '../..')

test('every package, both clients, the lock file and the changelog have the same version', () => {
  const version = commonVersion(root)
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const own = Object.entries<{ version?: string; link?: boolean }>(packages).filter(
    ([path, { link }]) => !path.includes('node_modules/') && !link,
  )
  for (const [path, row] of own)
    assert.equal(row.version, version, `package-lock.json: ${path || 'the root'}`)
  const newest = readChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))[1]
  assert.equal(newest?.version, version)
})

test('a new version is written to every place', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'wayleave-versions-'))
  t.after(() => rmSync(copy, { recursive: true }))
  for (const { file } of readVersions(root)) cpSync(join(root, file), join(copy, file))
  writeVersion(copy, '7.8.9')
  assert.equal(commonVersion(copy), '7.8.9')
  assert.equal(readVersions(copy).length, readVersions(root).length)
  assert.throws(() => writeVersion(copy, 'next'), /not a version/)
})

test('a release needs a dated section of its version, and nothing that is unreleased', () => {
  const text = '# Changelog\n\nFor users.\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-31)\n\n- Old.\n'
  assert.throws(() => requireReleased(text, '0.2.0'), /no section for 0.2.0/)
  assert.throws(() => requireReleased(text, '0.1.0'), /unreleased changes/)
  const dated = dateChangelog(text, '0.2.0', '2026-02-28')
  requireReleased(dated, '0.2.0')
  assert.deepEqual(
    readChangelog(dated).map(({ version, date, body }) => [version, date, body]),
    [
      [null, null, ''],
      ['0.2.0', '2026-02-28', '- New.'],
      ['0.1.0', '2026-01-31', '- Old.'],
    ],
  )
  assert.throws(() => readChangelog('## Unreleased\n\n## 0.1\n'), /must be/)
  assert.throws(() => readChangelog('## 0.1.0 (2026-01-31)\n'), /begin with/)
})
