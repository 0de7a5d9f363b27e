import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildProgram } from './build-program.ts'

const root = join(import.meta.dirname, '../..')

test('the packed program runs outside the repository: it publishes a file and serves it, the documentation and pages', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-program-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await buildProgram(root, join(folder, 'built'))
  execFileSync('npm', ['pack', '--silent', './built', '--pack-destination', folder], { cwd: folder })
  const { version, dependencies } = JSON.parse(readFileSync(join(folder, 'built', 'package.json'), 'utf8'))
  // Installed as npm would, but with the native packages that are here already.
  const modules = join(folder, 'place', 'node_modules')
  mkdirSync(join(modules, 'wayleave'), { recursive: true })
  const archive = join(folder, `wayleave-${version}.tgz`)
  execFileSync('tar', ['-xzf', archive, '-C', join(modules, 'wayleave'), '--strip-components=1'])
  assert.deepEqual(Object.keys(dependencies), ['@duckdb/node-bindings'])
  symlinkSync(join(root, 'node_modules', '@duckdb'), join(modules, '@duckdb'))

  const program = join(modules, 'wayleave', 'server', 'bin', 'wayleave.js')
  const data = join(folder, 'data')
  const source = join(folder, 'points.geojson')
  const geometry = { type: 'Point', coordinates: [5, 52] }
  writeFileSync(source, JSON.stringify({ type: 'Feature', properties: { name: 'a' }, geometry }))
  const environment = { ...process.env, WAYLEAVE_DATA_DIR: data }
  const publish = [program, 'publish', source, '--table', 'points', '--json']
  const report = execFileSync(process.execPath, publish, { cwd: folder, env: environment, encoding: 'utf8' })
  assert.equal(JSON.parse(report).rows, 1)

  const serve = [program, 'serve', '--port', '0', '--json']
  const server = spawn(process.execPath, serve, { cwd: folder, env: environment })
  t.after(() => server.kill('SIGKILL'))
  const { url } = JSON.parse(String((await once(server.stdout, 'data'))[0]))
  const sample = await fetch(`${url}/v1/dataset/points/sample/json`)
  assert.deepEqual(await sample.json(), [{ name: 'a', longitude: 5, latitude: 52 }])
  for (const path of ['/docs', '/docs/operating', '/v1/openapi.json', '/v1/ogc', '/'])
    assert.equal((await fetch(url + path)).status, 200, path)
  if (existsSync(join(root, 'console', 'dist')))
    assert.match(await (await fetch(`${url}/`)).text(), /assets\//)
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'exit'), [0, null])
})
