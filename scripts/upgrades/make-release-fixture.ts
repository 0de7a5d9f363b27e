/**
 * `node scripts/upgrades/make-release-fixture.ts <commit> <version>`: runs the service as it was at a commit, on SQLite
 * and on PostgreSQL (WAYLEAVE_TEST_POSTGRES_URL), and stores what it leaves behind in server/src/testing/releases:
 *
 * - `<version>.tar.gz`: a data folder with a dataset, an organization, a member, credits and a key;
 * - `<version>.json`: the secret of that key and the ids, and every statement that it sent to PostgreSQL.
 *
 * Run it once for each release, right after it. The tests open these with the program of today.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findPostgres } from '../test-servers/postgres.ts'

const root = join(import.meta.dirname, '../..')
const [commit, version] = process.argv.slice(2)
if (!commit || !version) throw new Error('Usage: make-release-fixture.ts <commit> <version>')
const folder = mkdtempSync(join(tmpdir(), 'wayleave-release-'))
const old = join(folder, 'program')
const out = join(root, 'server', 'src', 'testing', 'releases')

try {
  checkOut()
  const made = await useService(join(folder, 'data'), {})
  const statements = await recordStatements()
  mkdirSync(out, { recursive: true })
  const archive = join(out, `${version}.tar.gz`)
  execFileSync('tar', [
    '--create',
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--mtime=2026-01-01',
    '-C',
    folder,
    '-f',
    `${folder}/data.tar`,
    'data',
  ])
  execFileSync('gzip', ['--best', '--no-name', `${folder}/data.tar`])
  cpSync(`${folder}/data.tar.gz`, archive)
  writeFileSync(join(out, `${version}.json`), `${JSON.stringify({ ...made, statements }, null, 1)}\n`)
  console.log(`${archive}, ${statements.length} statements`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The sources of the commit, with the packages that are installed here. */
function checkOut(): void {
  mkdirSync(old)
  const sources = execFileSync('git', ['archive', commit!], { cwd: root, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', old], { input: sources })
  symlinkSync(join(root, 'node_modules'), join(old, 'node_modules'))
  for (const workspace of ['contract', 'geodata', 'server', 'client-js', 'console', 'demo']) {
    const modules = join(root, workspace, 'node_modules')
    if (existsSync(modules) && existsSync(join(old, workspace)))
      symlinkSync(modules, join(old, workspace, 'node_modules'))
  }
  // Packages of the project itself are links to the folders of today: resolve them to those of the commit.
  rmSync(join(old, 'node_modules'))
  mkdirSync(join(old, 'node_modules', '@wayleave'), { recursive: true })
  for (const name of execFileSync('ls', ['-A', join(root, 'node_modules')], { encoding: 'utf8' })
    .trim()
    .split('\n'))
    if (!['@wayleave', 'wayleave', '.bin'].includes(name))
      symlinkSync(join(root, 'node_modules', name), join(old, 'node_modules', name))
  for (const workspace of ['contract', 'geodata', 'demo'])
    if (existsSync(join(old, workspace)))
      symlinkSync(join(old, workspace), join(old, 'node_modules', '@wayleave', workspace))
}

/** Makes one of everything by the command line, then reads and writes over HTTP. */
async function useService(dataDir: string, settings: Record<string, string>) {
  const env = {
    ...process.env,
    WAYLEAVE_DATA_DIR: dataDir,
    WAYLEAVE_ADMINS: 'operator@example.org',
    WAYLEAVE_TILES: 'false',
    ...settings,
  }
  const program = join(old, 'server', 'bin', 'wayleave.js')
  const command = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [program, ...args, '--json'], { cwd: folder, env, encoding: 'utf8' }),
    )
  const source = join(folder, 'trees.geojson')
  writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features: trees() }))
  command('publish', source, '--table', 'trees', '--title', 'Trees', '--license', 'CC0-1.0')
  const organization = command('org', 'create', 'City of Utrecht')
  command('org', 'add-on', organization.id, 'API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA')
  command('org', 'credits', organization.id, '--add', '10')
  command(
    'org',
    'member',
    organization.id,
    'ada@example.org',
    '--permission',
    'APIKEY_CREATE',
    '--permission',
    'APIKEY_VIEW',
  )
  const platform = command(
    'key',
    'create',
    '--platform',
    '--name',
    'publisher',
    '--permissions',
    'read,write',
  )

  const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], { cwd: folder, env })
  try {
    const { url } = JSON.parse(String((await once(server.stdout!, 'data'))[0]))
    const token = await signIn(url, dataDir)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'analysis', permissions: ['read'] })
    const address = `${url}/v1/api-keys/organization/${organization.id}`
    const created = await fetch(address, { method: 'POST', headers, body })
    const key = (await created.json()) as { id: string; secret: string }
    for (const path of [
      '/v1/ogc/collections/trees/items?limit=2',
      '/v1/dataset/trees/files/csv',
      '/v1/dataset/trees/archives',
      '/v1/datasets',
      '/ready',
    ]) {
      const response = await fetch(url + path, { headers: { 'x-api-key': key.secret } })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }
    for (const path of [
      '/v1/api-keys/accessible',
      `/v1/api-keys/${key.id}/usage`,
      '/v1/organization/me',
      '/v1/auth/me',
    ])
      await (await fetch(url + path, { headers })).arrayBuffer()
    // Usage is written once a second.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return {
      version,
      secret: key.secret,
      platformSecret: platform.secret,
      organizationId: organization.id,
      keyId: key.id,
    }
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
}

function trees() {
  return [1, 2, 3, 4, 5].map((number) => ({
    type: 'Feature',
    properties: { species: number % 2 ? 'oak' : 'elm', height: number * 1.5 },
    geometry: { type: 'Point', coordinates: [5 + number / 100, 52] },
  }))
}

/** Redeems the link of the mail that the service has written to its outbox. */
async function signIn(url: string, dataDir: string): Promise<string> {
  const post = (path: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/v1/auth/magic-link', { email: 'ada@example.org' })
  const outbox = join(dataDir, 'outbox')
  for (let attempt = 0; attempt < 100; attempt++) {
    const mails = existsSync(outbox) ? execFileSync('ls', [outbox], { encoding: 'utf8' }).split('\n') : []
    const mail = mails.find((name) => name.endsWith('.eml'))
    const token = mail && /\/sign-in#([\w-]+)/.exec(readFileSync(join(outbox, mail), 'utf8'))?.[1]
    if (token) {
      const redeemed = await post('/v1/auth/token', { token })
      return ((await redeemed.json()) as { accessToken: string }).accessToken
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('There is no mail.')
}

/** Runs the same on PostgreSQL, and records the text of every statement. */
async function recordStatements(): Promise<string[]> {
  const server = new URL(process.env['WAYLEAVE_TEST_POSTGRES_URL']!)
  const name = `release_${Date.now()}`
  const psql = join(findPostgres()!, 'psql')
  const administer = (statement: string) => execFileSync(psql, ['-d', server.href, '-c', statement])
  administer(`create database ${name}`)
  const record = join(folder, 'statements.jsonl')
  const preload = join(folder, 'record.mjs')
  writeFileSync(
    preload,
    `import { appendFileSync } from 'node:fs'
import pg from ${JSON.stringify(pathToFileURL(join(root, 'node_modules/pg/esm/index.mjs')).href)}
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : config?.text
  if (text) appendFileSync(${JSON.stringify(record)}, JSON.stringify(text) + '\\n')
  return query.call(this, config, ...rest)
}
`,
  )
  try {
    const url = Object.assign(new URL(server.href), { pathname: `/${name}` })
    await useService(join(folder, 'postgres-data'), {
      WAYLEAVE_DATABASE_URL: url.href,
      NODE_OPTIONS: `--import=${pathToFileURL(preload).href}`,
    })
  } finally {
    administer(`drop database ${name} with (force)`)
  }
  const texts: string[] = readFileSync(record, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const isPrepared = /^(with|select|insert|update|delete)\b/i
  return [...new Set(texts.map((text) => text.trim()))].filter((text) => isPrepared.test(text)).sort()
}
