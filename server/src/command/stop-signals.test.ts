import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testedProgram } from '../../../scripts/program/tested-program.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { runCommand } from '../testing/processes/run-command.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { until } from '../testing/until.ts'

needs('processes')

const root = fileURLToPath(new URL('../../../', import.meta.url))

interface Start {
  command: readonly string[]
  signals: readonly NodeJS.Signals[]
  /** Whether the program is started by the Node of the system, which may be older than the one of the project. */
  isSystemNode?: true
  /** Whether the signal is sent to all processes, as Ctrl+C in a terminal is. */
  isToAll?: true
}

/**
 * The documented ways to start the service, and npm with a shell that does not forward signals. A SIGHUP ends npm like
 * a SIGKILL, so that one of them is sent to each.
 */
const starts: Record<string, Start> = {
  // Each start of it takes long, because it runs the sources.
  'npm start': { command: ['npm', 'start', '--'], signals: ['SIGTERM', 'SIGINT'] },
  'npx wayleave serve': {
    command: ['npx', 'wayleave', 'serve'],
    signals: ['SIGTERM', 'SIGINT', 'SIGHUP'],
  },
  // When interrupted, dash waits for its command: the server cannot notice a SIGINT to npm alone.
  'npx wayleave serve, by dash': {
    command: ['npx', '--script-shell=dash', 'wayleave', 'serve'],
    signals: ['SIGTERM', 'SIGKILL'],
  },
  // An older Node cannot replace itself by the pinned one, so there is one process more.
  'npx wayleave serve, by the Node of the system': {
    command: ['npx', 'wayleave', 'serve'],
    signals: ['SIGTERM', 'SIGKILL'],
    isSystemNode: true,
  },
  // The server gets the signal twice: from the terminal, and from the process that started it.
  'npx wayleave serve in a terminal, by the Node of the system': {
    command: ['npx', 'wayleave', 'serve'],
    signals: ['SIGINT'],
    isSystemNode: true,
    isToAll: true,
  },
  'node wayleave.js serve': {
    command: [process.execPath, testedProgram(), 'serve'],
    signals: ['SIGTERM', 'SIGINT', 'SIGHUP'],
  },
}

for (const [name, { command, signals, ...start }] of Object.entries(starts)) {
  test(`${name}: a signal to the process that was started ends all of them, in order`, async (t) => {
    const dataDir = temporaryFolder(t)
    // `npm start` publishes its demo data only in an installation without datasets.
    if (name === 'npm start') await publishOne(dataDir)
    const cwd = command[0] === 'npx' ? folderWithProgram(t) : root
    for (const signal of signals) {
      const whole = [...command, '--port', '0', '--data-dir', dataDir]
      await t.test(signal, (t) => stopBy(t, whole, cwd, signal, start))
    }
  })
}

async function publishOne(dataDir: string): Promise<void> {
  const file = join(dataDir, 'fruit.csv')
  writeFileSync(file, 'fruit,price\napple,1.5\n')
  const args = ['publish', file, '--table', 'fruit']
  const { code, stderr } = await runCommand({ dataDir, databaseUrl: null }, ...args)
  assert.equal(code, 0, stderr)
}

/** The PATH without the programs of the project, among which is its Node. */
function systemPath(): string {
  const folders = process.env['PATH']!.split(':')
  return folders.filter((folder) => !folder.endsWith('node_modules/.bin')).join(':')
}

/** A folder in which npx finds the program, and has the settings of this project. */
function folderWithProgram(t: TestContext): string {
  const folder = temporaryFolder(t)
  const bin = join(folder, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  // As npm does for the programs that it installs.
  chmodSync(testedProgram(), 0o755)
  symlinkSync(testedProgram(), join(bin, 'wayleave'))
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  return folder
}

async function stopBy(
  t: TestContext,
  [program, ...args]: string[],
  cwd: string,
  signal: NodeJS.Signals,
  { isSystemNode, isToAll }: Pick<Start, 'isSystemNode' | 'isToAll'>,
): Promise<void> {
  const mark = `WAYLEAVE_TEST_MARK=${randomUUID()}`
  const [markName, markValue] = mark.split('=') as [string, string]
  const child = spawn(program!, args, {
    cwd,
    env: {
      ...process.env,
      PATH: isSystemNode ? systemPath() : process.env['PATH'],
      // Here the service runs with its packages as they are, not with the bundled ones of the tests.
      ...(program === 'npm' && { NODE_OPTIONS: '' }),
      [markName]: markValue,
      WAYLEAVE_DRAIN_SECONDS: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own.
    detached: isToAll === true,
  })
  cleanUp(t, () => processesWith(mark).forEach((pid) => void process.kill(pid, 'SIGKILL')))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exit = once(child, 'exit')
  await until('the start', () => {
    assert.equal(child.exitCode, null, output)
    return output.includes('Wayleave serves at')
  })
  assert.ok(processesWith(mark).length > 0)
  if (isToAll) process.kill(-child.pid!, signal)
  else child.kill(signal)
  await exit
  await until(`the end of all processes after ${signal}`, () => processesWith(mark).length === 0)
  assert.equal(output.match(/Stopping: /g)?.length, 1, output)
}

/** The processes that have the mark in their environment. */
function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)
}
