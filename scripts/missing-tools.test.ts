import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { missingTools } from './missing-tools.ts'

test('development packages that are absent or of another version are missing; others do not matter', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'wayleave-tools-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const name of ['current', 'old']) {
    mkdirSync(join(root, 'node_modules', name), { recursive: true })
    writeFileSync(join(root, 'node_modules', name, 'package.json'), '{ "version": "1.0.0" }')
  }
  const packages = {
    'node_modules/current': { version: '1.0.0', dev: true },
    'node_modules/old': { version: '1.0.1', dev: true },
    'node_modules/absent': { version: '1.0.0', dev: true },
    'node_modules/of-another-platform': { version: '1.0.0', dev: true, optional: true },
    'node_modules/of-the-service': { version: '1.0.0' },
  }
  assert.deepEqual(missingTools(root, packages), ['node_modules/old', 'node_modules/absent'])
})
