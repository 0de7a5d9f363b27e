import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runInSharedProcess } from '../../testing/processes/shared-process.ts'

const run = (...args: string[]) => runInSharedProcess({ args, settings: {}, cwd: tmpdir() })

/** What a real bash offers for a line, whose last word is the one to complete. */
function completions(script: string, line: string): string[] {
  const words = line.split(' ')
  const program = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}
_wayleave
printf '%s\\n' "\${COMPREPLY[@]}"`
  const bash = ['--norc', '--noprofile', '-uc', program]
  return execFileSync('bash', bash, { encoding: 'utf8' }).split('\n').filter(Boolean)
}

test('bash completes commands, options and choices of the real command table', async () => {
  const { stdout, code } = await run('completion', 'bash')
  assert.equal(code, 0)
  const offered = (line: string) => completions(stdout, line)
  assert.deepEqual(offered('wayleave ser'), ['serve'])
  assert.deepEqual(offered('wayleave comp'), ['completion'])
  assert.deepEqual(offered('wayleave org cre'), ['create', 'credits'])
  assert.deepEqual(offered('wayleave publish x.csv --tab'), ['--table'])
  assert.deepEqual(offered('wayleave org create --js'), ['--json'])
  assert.deepEqual(offered('wayleave completion '), ['bash', 'zsh', 'fish'])
  // After an option that takes a value bash completes files: nothing is offered here.
  assert.deepEqual(offered('wayleave serve --data-dir '), [])
  assert.ok(offered('wayleave ').includes('publish'))
  assert.match(stdout, /^complete -o bashdefault -o default -F _wayleave wayleave$/m)
})

/** What a real zsh offers. Its completion system needs a terminal, so the functions that it would call print instead. */
function zshCompletions(script: string, line: string): string[] {
  const words = line.split(' ').map((word) => `'${word}'`)
  const program = `compdef() { : }
_describe() { print -rl -- "\${(@P)@[-1]%%:*}" }
compadd() { [[ $1 == -a ]] && print -rl -- "\${(@P)2}" || print -rl -- "$@" }
_files() { print FILES }
${script}
words=(${words.join(' ')}) CURRENT=${words.length}
_wayleave`
  const offered = execFileSync('zsh', ['-fc', program], { encoding: 'utf8' }).split('\n')
  // zsh itself leaves out what does not begin with the word.
  const start = line.split(' ').at(-1)!
  return offered.filter((word) => word === 'FILES' || (word !== '' && word.startsWith(start)))
}

/** What a real fish offers, without descriptions. */
function fishCompletions(script: string, line: string): string[] {
  const offered = execFileSync('fish', ['--no-config', '-c', `${script}\ncomplete -C '${line}'`], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  return offered
    .split('\n')
    .map((row) => row.split('\t', 1)[0]!)
    .filter(Boolean)
}

for (const { shell, check, complete } of [
  { shell: 'zsh', check: '-n', complete: zshCompletions },
  { shell: 'fish', check: '--no-execute', complete: fishCompletions },
]) {
  test(`the script for ${shell} lists every command; ${shell} parses and runs it if it is installed`, async (t) => {
    const { stdout } = await run('completion', shell)
    const { stdout: bash } = await run('completion', 'bash')
    const paths = [...bash.matchAll(/^ {4}'([a-z -]+)'\) commands=/gm)].map(([, path]) => path!)
    assert.ok(paths.length > 30)
    for (const path of paths) assert.ok(stdout.includes(`'${path}'`), path)
    const folder = mkdtempSync(join(tmpdir(), 'wayleave-completion-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'script')
    writeFileSync(file, stdout)
    const parsed = spawnSync(shell, [check, file], { encoding: 'utf8' })
    if (parsed.error) return t.diagnostic(`${shell} is not installed`)
    assert.deepEqual([parsed.status, parsed.stderr], [0, ''])
    const offered = (line: string) => complete(stdout, line).sort()
    assert.deepEqual(offered('wayleave ser'), ['serve'])
    assert.deepEqual(offered('wayleave org cre'), ['create', 'credits'])
    assert.deepEqual(offered('wayleave publish x.csv --tab'), ['--table'])
    assert.deepEqual(offered('wayleave org create --js'), ['--json'])
    assert.deepEqual(offered('wayleave completion '), ['bash', 'fish', 'zsh'])
    assert.ok(offered('wayleave ').includes('publish'))
    assert.ok(!offered('wayleave serve --data-dir ').includes('publish'))
  })
}

test('an unknown shell is wrong usage', async () => {
  const { code, stderr } = await run('completion', 'csh')
  assert.equal(code, 2)
  assert.match(stderr, /bash, zsh, fish/)
})
