import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { readConfig, SettingError, unknownVariables } from './config.ts'
import { settings } from './settings.ts'

const program = fileURLToPath(new URL('../../../bin/wayleave.js', import.meta.url))

test('flags come before variables, variables before the file, the file before the default', (t) => {
  const file = join(temporaryFolder(t), 'settings.json')
  writeFileSync(file, JSON.stringify({ port: 1, host: 'a', keyEnv: 'file' }))
  const config = readConfig({
    flags: { port: '3' },
    environment: { WAYLEAVE_PORT: '2', WAYLEAVE_HOST: 'b' },
    file,
  })
  assert.deepEqual([config.port, config.host, config.keyEnv, config.keyLiteral], [3, 'b', 'file', 'svc'])
})

test('without a setting the burst equals the rate, and is 600 for the standard rate of 6,000', () => {
  const burst = (environment: Record<string, string>) => readConfig({ environment, file: null }).keyBurst
  assert.equal(readConfig({ environment: {}, file: null }).keyRate, 6000)
  assert.equal(burst({}), 600)
  assert.equal(burst({ WAYLEAVE_KEY_RATE: '30' }), 30)
  assert.equal(burst({ WAYLEAVE_KEY_RATE: '30', WAYLEAVE_KEY_BURST: '7' }), 7)
})

test('a bad setting is named in one sentence, and a secret one is not repeated', (t) => {
  const bad: [Record<string, string>, RegExp][] = [
    [{ WAYLEAVE_PORT: '70000' }, /^WAYLEAVE_PORT: "70000" is not a whole number from 0 to 65535\.$/],
    [{ WAYLEAVE_PORT: '8e3' }, /^WAYLEAVE_PORT/],
    [{ WAYLEAVE_SIGN_UP: 'closed' }, /^WAYLEAVE_SIGN_UP: "closed" is not one of "open", "invite"\.$/],
    [{ WAYLEAVE_BASE_URL: 'example.org' }, /^WAYLEAVE_BASE_URL/],
    [{ WAYLEAVE_DATABASE_URL: 'mysql://u:opensesame@h/d' }, /^WAYLEAVE_DATABASE_URL: the value is not/],
    [{ WAYLEAVE_CONTACT_URL: 'ada' }, /begins with http:\/\/ or https:\/\/ or mailto:\.$/],
    [{ WAYLEAVE_TRUSTED_PROXIES: '10.0.0.0/40' }, /^WAYLEAVE_TRUSTED_PROXIES/],
    [{ WAYLEAVE_NEW_ORGANIZATION_ADD_ONS: 'API_ACCESS,ALL' }, /^WAYLEAVE_NEW_ORGANIZATION_ADD_ONS/],
    [{ WAYLEAVE_KEY_IN_URL: 'maybe' }, /^WAYLEAVE_KEY_IN_URL/],
    [
      { WAYLEAVE_START_TITLES: 'featured=Maps; hero=Hello' },
      /^WAYLEAVE_START_TITLES: .* with names among featured,/,
    ],
    [{ WAYLEAVE_START_LINKS: 'Blog=javascript:alert(1)' }, /^WAYLEAVE_START_LINKS/],
    [{ WAYLEAVE_START_LINKS: 'Blog=//example.org' }, /^WAYLEAVE_START_LINKS/],
    [{ WAYLEAVE_START_LINKS: '/datasets' }, /^WAYLEAVE_START_LINKS/],
    [{ WAYLEAVE_ADMINS: 'ada@example.org, root' }, /^WAYLEAVE_ADMINS: .* is not a list of mail addresses\.$/],
  ]
  for (const [environment, sentence] of bad) {
    assert.throws(
      () => readConfig({ environment, file: null }),
      (error: Error) =>
        error instanceof SettingError && sentence.test(error.message) && !/opensesame/.test(error.message),
    )
  }
  const file = join(temporaryFolder(t), 'wayleave.json')
  writeFileSync(file, '{"prot": 1}')
  assert.throws(() => readConfig({ environment: {}, file }), /there is no setting named "prot"/)
})

test('texts by names are an object in the file, and pairs in a variable', (t) => {
  const file = join(temporaryFolder(t), 'settings.json')
  writeFileSync(file, JSON.stringify({ startTitles: { key: 'Begin = here; now' } }))
  const environment = { WAYLEAVE_START_LINKS: 'All=/datasets?a=b ; Blog = https://example.org;' }
  const { startTitles, startLinks } = readConfig({ environment, file })
  assert.deepEqual(startTitles, { key: 'Begin = here; now' })
  assert.deepEqual(startLinks, { All: '/datasets?a=b', Blog: 'https://example.org' })
  writeFileSync(file, JSON.stringify({ startTitles: { key: 1 } }))
  assert.throws(() => readConfig({ environment, file }), /^SettingError: startTitles in/)
})

test('a misspelt variable is noticed', () => {
  assert.deepEqual(unknownVariables({ WAYLEAVE_PROT: '1', WAYLEAVE_PORT: '1', WAYLEAVE_TEST_X: '' }), [
    'WAYLEAVE_PROT',
  ])
})

test('a bad setting stops the start with exit code 2 and its sentence', { skip: lacks('processes') }, () => {
  const { status, stderr, stdout } = spawnSync(program, ['serve'], {
    env: { ...process.env, WAYLEAVE_PORT: 'eighty' },
    encoding: 'utf8',
  })
  assert.equal(status, 2)
  assert.equal(stderr, 'wayleave: WAYLEAVE_PORT: "eighty" is not a whole number from 0 to 65535.\n')
  assert.equal(stdout, '')
})

test('the help of serve names every setting', { skip: lacks('processes') }, () => {
  const { status, stdout } = spawnSync(program, ['serve', '--help'], { encoding: 'utf8' })
  assert.equal(status, 0)
  for (const row of Object.values(settings)) assert.ok(stdout.includes(row.variable), row.variable)
})

test('a demo on loopback has an administrator, unless the settings name others; no other server has one', () => {
  const admins = (flags: object, environment = {}) =>
    readConfig({ flags: { ...flags }, environment, file: null }).admins
  assert.deepEqual(admins({ demo: true }), ['admin@example.org'])
  assert.deepEqual(admins({ demo: true }, { WAYLEAVE_ADMINS: 'ada@example.org' }), ['ada@example.org'])
  assert.deepEqual(admins({ demo: true, host: '0.0.0.0' }), [])
  assert.deepEqual(admins({}), [])
})
