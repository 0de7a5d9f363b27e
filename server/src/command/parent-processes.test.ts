import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RunningProcess, watchedParents } from './parent-processes.ts'

const wrapper = ['node', '/opt/app/node_modules/.bin/wayleave', 'serve']
const shell = ['sh', '-c', 'wayleave serve']
const npm = ['npm exec wayleave serve']

/** The ids of the watched ones among these ancestors; the first is the parent of the server. */
function watchedOf(isStartedByNpm: boolean, ...ancestors: string[][]): number[] {
  const processes = new Map<number, RunningProcess>(
    ancestors.map((command, i) => [100 - i, { command, parent: ancestors[i + 1] ? 99 - i : 1 }]),
  )
  return watchedParents(100, isStartedByNpm, (pid) => processes.get(pid) ?? null)
}

test('npm, its shell and the wrapper of an older Node are watched', () => {
  assert.deepEqual(watchedOf(true, npm), [100])
  assert.deepEqual(watchedOf(true, shell, npm), [100, 99])
  assert.deepEqual(watchedOf(true, wrapper, shell, npm), [100, 99, 98])
  assert.deepEqual(watchedOf(true, wrapper, npm), [100, 99])
  const cli = ['node', '/usr/lib/node_modules/npm/bin/npm-cli.js', 'start']
  assert.deepEqual(watchedOf(true, shell, cli), [100, 99])
})

test('a script that starts a server in the background may end', () => {
  const script = ['bash', '/home/ada/start.sh']
  const line = ['sh', '-c', 'nohup wayleave serve &']
  assert.deepEqual(watchedOf(false, wrapper, script), [100])
  assert.deepEqual(watchedOf(false, wrapper, line, ['sshd']), [100])
  assert.deepEqual(watchedOf(false, script), [])
  // `npm run deploy`, which runs the script.
  assert.deepEqual(watchedOf(true, script, ['sh', '-c', './start.sh'], ['npm run deploy']), [])
  assert.deepEqual(watchedOf(true, wrapper, script, ['sh', '-c', './start.sh'], ['npm run deploy']), [100])
  assert.deepEqual(watchedOf(true, line, ['cron']), [])
})
