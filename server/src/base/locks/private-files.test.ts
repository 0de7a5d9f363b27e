import assert from 'node:assert/strict'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { runProgramFile } from '../../testing/processes/run-command.ts'
import { publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
}

test('a data folder that other users can enter is refused, unless a setting allows it', async (t) => {
  const dataDir = temporaryFolder(t)
  chmodSync(dataDir, 0o755)
  await assert.rejects(openTestServer(t, { dataDir }), { name: 'SettingError', message: /chmod 700/ })
  await openTestServer(t, { dataDir, settings: { allowReadableDataDir: true } })
})

test('a group may have access, as on a mounted volume', async (t) => {
  const dataDir = temporaryFolder(t)
  chmodSync(dataDir, 0o770)
  await openTestServer(t, { dataDir })
})

test('every file that a command makes is private, also in a folder that existed before', {
  skip: lacks('processes'),
}, async (t) => {
  const dataDir = temporaryFolder(t)
  writeFileSync(join(dataDir, 'wayleave.db'), '', { mode: 0o644 })
  const file = join(temporaryFolder(t), 'towns.csv')
  writeFileSync(file, 'name,longitude,latitude\nA,1,2\n')
  const { code, stderr } = await runProgramFile(
    { dataDir, databaseUrl: null },
    'publish',
    file,
    '--table',
    'towns',
  )
  assert.equal(code, 0, stderr)
  assert.deepEqual(openToOthers(dataDir), [])
})

test('the control database of a server is private', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'towns', 'towns.csv', 'name\nA\n')
  for (const name of readdirSync(service.config.dataDir).filter((entry) => /wayleave\.db|lock/.test(entry))) {
    assert.equal(statSync(join(service.config.dataDir, name)).mode & 0o077, 0, name)
  }
})
