import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import { cleanUp } from '../cleanup.ts'

export interface ServerProcess {
  url: string
  child: ChildProcess
  /** Kills it at once, like a crash; resolves when the process has exited. */
  kill(): Promise<void>
}

/** Starts the real program, or another that prints its URL, in a separate process, for tests that kill it. */
export async function startServerProcess(
  t: TestContext,
  dataDir: string,
  environment: Record<string, string> = {},
  options: { descriptors?: number; args?: string[] } = {},
): Promise<ServerProcess> {
  const command = options.args ?? [
    ...testedProgramArguments(),
    'serve',
    '--json',
    '--port',
    '0',
    '--data-dir',
    dataDir,
  ]
  // Sets both the soft and the hard limit, because Node raises the soft to the hard limit.
  const shell = ['-c', `ulimit -n ${options.descriptors ?? '$(ulimit -n)'} && exec "$0" "$@"`]
  const child = spawn('sh', [...shell, process.execPath, ...command], {
    env: {
      ...process.env,
      WAYLEAVE_LOG_LEVEL: 'warn',
      WAYLEAVE_KEY_RATE: '1000000',
      WAYLEAVE_TILES: 'false',
      WAYLEAVE_DRAIN_SECONDS: '0',
      // To try the sandbox takes a process for every server.
      WAYLEAVE_SANDBOX: 'off',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  cleanUp(t, kill)
  for await (const line of createInterface({ input: child.stdout! })) {
    return { url: (JSON.parse(line) as { url: string }).url, child, kill }
  }
  throw new Error(`The server ended with exit code ${child.exitCode} before it listened.`)
}
