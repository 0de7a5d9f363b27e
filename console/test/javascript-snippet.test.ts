import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { snippetsFor } from '../src/datasets/snippet-texts.ts'
import { parcelsGeojson } from './parcels.ts'
import { startServer } from './test-console.ts'

const root = join(import.meta.dirname, '..', '..')

test('the JavaScript and curl snippets run as copied, and return the filtered rows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-snippet-'))
  let stop = async () => {}
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const dataDir = join(folder, 'data')
  const command = (...args: string[]) => {
    const program = join(root, 'server', 'bin', 'wayleave.js')
    return execFileSync(process.execPath, [program, ...args, '--json', '--data-dir', dataDir], {
      encoding: 'utf8',
    })
  }
  writeFileSync(join(folder, 'parcels.geojson'), parcelsGeojson(12))
  command('publish', join(folder, 'parcels.geojson'), '--table', 'parcels')
  const args = ['key', 'create', '--platform', '--name', 'test', '--permissions', 'read']
  const { secret } = JSON.parse(command(...args))
  execFileSync(process.execPath, [join(root, 'scripts', 'clients', 'main.ts')], { stdio: 'pipe' })
  const server = await startServer(dataDir)
  stop = server.stop

  const dataset = await (await fetch(`${server.url}/v1/dataset/parcels`)).json()
  mkdirSync(join(folder, 'node_modules', '@wayleave'), { recursive: true })
  symlinkSync(join(root, 'client-js'), join(folder, 'node_modules', '@wayleave', 'client'))
  const filter = "area >= 63 AND owner <> 'O''Brien'"
  const run = (program: string, args: string[]) => {
    const { stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
    assert.doesNotMatch(stderr, /rror/)
    return stdout
  }
  for (const [applied, rows] of [
    ['', 12],
    [filter, 6],
  ] as const) {
    const snippets = snippetsFor(dataset, server.url, secret, applied)
    writeFileSync(join(folder, 'snippet.mjs'), snippets['javascript']!.code)
    for (const language of ['python', 'javascript']) {
      const [address] = /http:\S+\.(?:whl|tgz)/.exec(snippets[language]!.code)!
      assert.equal((await fetch(address, { method: 'HEAD' })).status, 200, address)
    }
    const stdout = run(process.execPath, ['--conditions=wayleave-source', 'snippet.mjs'])
    const lines = stdout.match(/^\{ owner: 'Owner \d+', area: [\d.]+, built: (true|false) \}$/gm)
    assert.equal(lines?.length, rows)
    assert.doesNotMatch(stdout, /undefined/)
    run('sh', ['-c', snippets['curl']!.code])
    const { features } = JSON.parse(readFileSync(join(folder, 'parcels.geojson'), 'utf8'))
    assert.equal(features.length, rows)
  }
})
