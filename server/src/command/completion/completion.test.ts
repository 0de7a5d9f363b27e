import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { runInSharedProcess } from '../../testing/processes/shared-process.ts'

needs('processes')

const main = fileURLToPath(new URL('../../main.ts', import.meta.url))
const run = (...args: string[]) => runInSharedProcess({ args, settings: {}, cwd: tmpdir() })

test('commands, options and choices of the real command table are offered', async () => {
  const offered = async (line: string) => {
    const { stdout, code } = await run('completion', 'bash', '--', ...line.split(' '))
    assert.equal(code, 0)
    return stdout.split('\n').filter(Boolean)
  }
  assert.deepEqual(await offered('ser'), ['serve'])
  assert.deepEqual(await offered('comp'), ['completion'])
  assert.deepEqual(await offered('org cre'), ['create', 'credits'])
  assert.deepEqual(await offered('publish x.csv --tab'), ['--table'])
  assert.deepEqual(await offered('org create --js'), ['--json'])
  assert.deepEqual(await offered('org create --he'), ['--help'])
  assert.deepEqual(await offered('completion '), ['bash', 'zsh', 'fish'])
  assert.deepEqual(await offered('job list --kind e'), ['export'])
  // A value that has the name of a command is not that command.
  assert.deepEqual(await offered('serve --data-dir org --rol'), ['--role'])
  // After an option that takes a value the shell completes files.
  assert.deepEqual(await offered('serve --data-dir '), [])
  assert.ok((await offered('')).includes('publish'))
})

/** A folder with a program `wayleave`, for the search path of a shell. */
function programFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-completion-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'wayleave')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
  chmodSync(program, 0o755)
  return folder
}

/** How a real shell is made to print what it offers for a line, whose last word is the one to complete. */
const shells = {
  bash: {
    check: '-n',
    args: (script: string, words: string[]) => [
      '--norc',
      '--noprofile',
      '-uc',
      `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}
_wayleave
printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
  },
  // The completion system of zsh needs a terminal, so the functions that it would call print instead.
  zsh: {
    check: '-n',
    args: (script: string, words: string[]) => [
      '-fc',
      `compdef() { : }
_describe() { print -rl -- "\${(@P)@[-1]%%:*}" }
_files() { print FILES }
${script}
words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length}
_wayleave`,
    ],
  },
  fish: {
    check: '--no-execute',
    args: (script: string, words: string[]) => [
      '--no-config',
      '-c',
      `${script}\ncomplete -C '${words.join(' ')}'`,
    ],
  },
}

for (const [shell, { check, args }] of Object.entries(shells)) {
  test(`${shell} parses the script and asks the program, if it is installed`, async (t) => {
    const { stdout: script } = await run('completion', shell)
    const folder = programFolder(t)
    const file = join(folder, 'script')
    writeFileSync(file, script)
    const parsed = spawnSync(shell, [check, file], { encoding: 'utf8' })
    if (parsed.error) return t.diagnostic(`${shell} is not installed`)
    assert.deepEqual([parsed.status, parsed.stderr], [0, ''])
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
    const offered = (line: string) =>
      execFileSync(shell, args(script, line.split(' ')), { encoding: 'utf8', env, cwd: folder })
        .split('\n')
        // fish prints descriptions too.
        .map((row) => row.split('\t', 1)[0]!)
        .filter(Boolean)
        .sort()
    assert.deepEqual(offered('wayleave org cre'), ['create', 'credits'])
    assert.deepEqual(offered('wayleave publish x.csv --tab'), ['--table'])
    assert.deepEqual(offered('wayleave completion '), ['bash', 'fish', 'zsh'])
    assert.ok(!offered('wayleave serve --data-dir ').includes('publish'))
  })
}

test('an unknown shell is wrong usage', async () => {
  const { code, stderr } = await run('completion', 'csh')
  assert.equal(code, 2)
  assert.match(stderr, /bash, zsh, fish/)
})
