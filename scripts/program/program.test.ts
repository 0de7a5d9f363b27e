import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { ensureClients } from '../clients/build-clients.ts'
import { ensureConsole } from '../console-build.ts'
import { needs } from '../test-run/needs.ts'
import { buildProgram } from './build-program.ts'

needs('processes')

const root = join(import.meta.dirname, '../..')

test('npm installs the packed program into an empty folder, where it runs the demo and publishes a file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-program-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // A full test run has built the program already.
  const tested = process.env['WAYLEAVE_TEST_PROGRAM']
  const built = tested ? join(dirname(tested), '../..') : join(folder, 'built')
  if (!tested) {
    ensureConsole(root)
    ensureClients(root)
    await buildProgram(root, built)
  }
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      timeout: 300_000,
    })
  npm('pack', built, '--pack-destination', folder)
  const { version, dependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  assert.deepEqual(Object.keys(dependencies), ['@duckdb/node-bindings', 'koffi'])
  const prefix = join(folder, 'place')
  mkdirSync(prefix)
  npm('install', '--global', '--prefix', prefix, '--prefer-offline', `./wayleave-${version}.tgz`)

  // As on a machine that has only the Node that npm itself runs on: no variables of the tests.
  const program = join(prefix, 'bin', 'wayleave')
  const { NODE_OPTIONS: _, ...others } = process.env
  const environment = {
    ...others,
    WAYLEAVE_DATA_DIR: join(folder, 'data'),
    WAYLEAVE_TILES: 'false',
    WAYLEAVE_THREADS: '2',
  }
  const options = { cwd: folder, env: environment }
  assert.equal(execFileSync(program, ['--version'], { ...options, encoding: 'utf8' }), `${version}\n`)
  const server = spawn(program, ['serve', '--demo', '--port', '0', '--json'], options)
  t.after(() => server.kill('SIGKILL'))
  let log = ''
  server.stderr.on('data', (chunk) => {
    log += chunk
  })
  const [line] = await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
  assert.ok(line instanceof Buffer, log)
  const { url, secret } = JSON.parse(String(line))
  const items = `${url}/v1/ogc/collections/places/items?bbox=4.7,52.2,5.2,52.5&limit=3`
  const page = await fetch(items, { headers: { 'x-api-key': secret } })
  assert.equal(((await page.json()) as { features: object[] }).features.length, 3)
  assert.match(await (await fetch(`${url}/metrics`)).text(), /^wayleave_threads 2$/m)

  const source = join(folder, 'points.geojson')
  const geometry = { type: 'Point', coordinates: [5, 52] }
  writeFileSync(source, JSON.stringify({ type: 'Feature', properties: { name: 'a' }, geometry }))
  execFileSync(program, ['publish', source, '--table', 'points', '--json'], options)
  const sample = await fetch(`${url}/v1/dataset/points/sample/json`)
  assert.deepEqual(await sample.json(), [{ name: 'a', longitude: 5, latitude: 52 }])

  const paths = ['/docs', '/docs/operating', '/v1/openapi.json', '/v1/ogc', '/', '/client.js', '/clients']
  for (const path of [...paths, `/clients/wayleave-${version}-py3-none-any.whl`])
    assert.equal((await fetch(url + path)).status, 200, path)
  assert.match(await (await fetch(`${url}/`)).text(), /assets\//)
  assert.ok(existsSync(join(prefix, 'lib', 'node_modules', 'wayleave', 'LICENSE')))
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'exit'), [0, null])
})
