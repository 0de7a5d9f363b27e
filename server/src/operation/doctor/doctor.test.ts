import assert from 'node:assert/strict'
import { chmodSync, existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { readConfig } from '../../base/settings/config.ts'
import { emptyPlace, newPlace, serverAt } from '../../testing/backup-place.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { databaseKinds } from '../../testing/test-server.ts'
import type { Check } from './check.ts'
import { checkFolder, checkLock } from './check-folder.ts'
import { checkSandbox } from './check-sandbox.ts'
import { checkClock, checkDatabase, checkMail, checkRedis } from './check-servers.ts'
import { checkProxies, checkSettings } from './check-settings.ts'

const settings = (environment: Record<string, string>) => readConfig({ environment, file: null })
const statuses = (checks: Check[]) => checks.map(({ status }) => status)

for (const kind of databaseKinds) {
  test(`${kind}: next to a healthy server, every check passes`, async (t) => {
    const place = await newPlace(t, kind)
    await serverAt(t, place)
    const { code, json } = await runCommand(place, 'doctor', '--json')
    assert.equal(code, 0, JSON.stringify(json))
    const names = json.data.map(({ name }: Check) => name)
    for (const name of [
      'settings',
      'folder',
      'sandbox',
      'disk',
      'schema',
      'clock',
      'mail',
      'redis',
      'proxies',
      'descriptors',
    ]) {
      assert.ok(names.includes(name), name)
    }
    const problems = json.data.filter(({ status }: Check) => status === 'problem')
    assert.deepEqual(problems, [])
    const running = json.data.find(({ name }: Check) => name === (kind === 'sqlite' ? 'lock' : 'nodes'))
    assert.match(running.message, kind === 'sqlite' ? /A server runs/ : /1 node serves/)
    const lines = (await runCommand(place, 'doctor')).stdout.trimEnd().split('\n')
    assert.equal(lines.length, json.data.length)
    for (const line of lines) assert.match(line, /^(ok|warning|PROBLEM) +[a-z]+ +[A-Z0-9/]/)
  })
}

test('each failed check has a line that says what to do', { skip: lacks('gdal', 'tools') }, async (t) => {
  const { dataDir } = await emptyPlace(t, 'sqlite')
  chmodSync(dataDir, 0o755)
  const [shared] = await checkFolder({ dataDir, databaseUrl: null })
  assert.deepEqual([shared!.status, shared!.remedy], ['warning', `chmod 700 ${dataDir}`])
  assert.equal(checkLock({ dataDir, databaseUrl: null })!.status, 'ok')

  assert.equal((await checkSandbox(settings({}))).status, 'ok')
  const unprotected = await checkSandbox(settings({ WAYLEAVE_SANDBOX: 'off' }))
  assert.deepEqual(
    [unprotected.status, unprotected.remedy],
    ['warning', 'Set WAYLEAVE_SANDBOX to auto or require.'],
  )

  const beyond = settings({ WAYLEAVE_HOST: '0.0.0.0' })
  assert.ok(statuses(checkSettings(beyond, [])).includes('problem'))
  assert.match(checkSettings(settings({}), ['WAYLEAVE_PROT'])[0]!.message, /WAYLEAVE_PROT/)
  assert.equal(checkProxies(settings({ WAYLEAVE_BASE_URL: 'https://data.example.org' })).status, 'warning')

  // A port that accepts connections and never responds, and one where nothing listens.
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  cleanUp(t, () => silent.close())
  const { port } = silent.address() as { port: number }
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port: away } = closed.address() as { port: number }
  await new Promise((resolve) => closed.close(resolve))
  assert.equal(
    (await checkMail({ smtpUrl: `smtp://127.0.0.1:${port}`, smtpAllowPlain: false, dataDir })).status,
    'problem',
  )
  assert.equal(
    (await checkMail({ smtpUrl: `smtp://127.0.0.1:${away}`, smtpAllowPlain: false, dataDir })).status,
    'problem',
  )
  assert.equal(
    (await checkRedis({ redisUrl: `redis://127.0.0.1:${away}`, databaseUrl: null })).status,
    'problem',
  )
  const databaseUrl = `postgres://127.0.0.1:${away}/none`
  assert.equal((await checkDatabase({ dataDir, databaseUrl }, existsSync)).status, 'problem')
  assert.equal((await checkClock({ databaseUrl }, Date.now)).status, 'problem')
})

test('a clock that is far from the database’s is a problem', { skip: lacks('postgres') }, async (t) => {
  const { databaseUrl } = await emptyPlace(t, 'postgres')
  assert.equal((await checkClock({ databaseUrl }, Date.now)).status, 'ok')
  const ahead = await checkClock({ databaseUrl }, () => Date.now() + 60_000)
  assert.equal(ahead.status, 'problem')
  assert.match(ahead.message, /(59|6\d)\.\d s from/)
})
