import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testedProgram } from '../../../scripts/program/tested-program.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { startServerProcess } from '../testing/processes/server-process.ts'
import { runInSharedProcess } from '../testing/processes/shared-process.ts'
import { points } from '../testing/publish.ts'
import { temporaryFolder } from '../testing/test-server.ts'

needs('processes', 'tools')

const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8')

/** Every command of the page, in its order. */
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) => block!.trim().split('\n'))

/** The words of a command: quotes hold words together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
}

/**
 * scripts/program/program.test.ts installs the package; operation/backup/documented-steps.test.ts runs backup, restore,
 * checks and the move of the database; data/blobs/bucket-maintenance.test.ts moves the storage. Variables and comments
 * are not commands.
 */
const TESTED_ELSEWHERE =
  /^(npm install|export|#) ?|^npx wayleave (backup|restore|verify|doctor|database|storage) /

test('the commands of the page on operating work in their order beside a running server', async (t) => {
  const folder = temporaryFolder(t)
  const data = join(folder, 'data')
  const places: Record<string, string> = { '/var/lib/wayleave': data }
  const settings = { WAYLEAVE_DATA_DIR: data, WAYLEAVE_TILES: 'false' }
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInSharedProcess({ args, settings, cwd: folder })
    assert.equal(code, 0, `wayleave ${args.join(' ')}\n${stdout}${stderr}`)
    return stdout
  }
  const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'))

  // What the page takes for granted: a dataset that was removed, a key that leaked, the folders of shells.
  writeFileSync(join(folder, 'parcels.geojson'), points(3))
  await run('publish', join(folder, 'parcels.geojson'), '--table', 'parcels')
  await run('unpublish', 'parcels')
  const [trashed] = readdirSync(join(data, 'snapshots', '.trash'))
  places['2026-03-01T12-00-00.000Z.parcels_4fGh…'] = trashed!
  const create = ['key', 'create', '--platform', '--name', 'leaked', '--permissions', 'read']
  const leaked = await json(...create)
  writeFileSync(join(folder, 'leaked.txt'), `${leaked.secret}\n`)
  execFileSync(
    'mkdir',
    ['-p', '.local/share/bash-completion/completions', '.config/fish/completions', 'zsh'],
    {
      cwd: folder,
    },
  )

  const { url } = await startServerProcess(t, data)
  const executed: string[] = []
  for (const line of commands.filter((command) => !TESTED_ELSEWHERE.test(command))) {
    let text = line
    for (const [written, actual] of Object.entries(places)) text = text.replaceAll(written, actual)
    const [first, ...words] = wordsOf(text.replace(/^npx /, ''))
    assert.equal(first, 'wayleave', line)
    if (words[0] === 'serve') {
      // The server runs already, beside all other commands.
      assert.equal((await fetch(`${url}/health`)).status, 200)
    } else if (/[<>]/.test(line)) {
      const shell = `wayleave() { "${process.execPath}" "${testedProgram()}" "$@"; }; fpath=('' zsh)\n${text.replace(/^npx /, '')}`
      const env = { ...process.env, ...settings, HOME: folder }
      execFileSync('bash', ['-euc', shell], { cwd: folder, env, stdio: 'pipe' })
    } else {
      const output = await run(...words)
      if (words.slice(0, 2).join(' ') === 'org create')
        places['ORGANIZATION_ID'] = /\borg_\w+/.exec(output)![0]
      if (words.slice(0, 2).join(' ') === 'key create') places['KEY_ID'] = /\bkey_\w+/.exec(output)![0]
    }
    executed.push(words.slice(0, 2).join(' '))
  }
  assert.ok(executed.length > 14)
  for (const file of ['.local/share/bash-completion/completions/wayleave', 'zsh/_wayleave'])
    assert.ok(existsSync(join(folder, file)), file)
})
