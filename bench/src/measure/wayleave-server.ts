import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { RunningServer } from './bare-server.ts'
import { type Measured, runMeasured } from './measured-process.ts'

const command = join(import.meta.dirname, '../../../server/bin/wayleave.js')

/** Rate limits that no benchmark reaches; all other settings have their defaults. */
const unlimited = {
  WAYLEAVE_KEY_RATE: '100000000',
  WAYLEAVE_TILES: 'false',
  WAYLEAVE_USER_RATE: '100000000',
  WAYLEAVE_ADDRESS_RATE: '100000000',
}

export interface WayleaveServer extends RunningServer {
  dataDir: string
  /** Runs an operator command next to the server, and returns the JSON document that it prints. */
  operate<T = unknown>(...args: string[]): Promise<T>
  /** Runs an operator command and measures it with all processes that it starts. */
  measure(...args: string[]): Promise<Measured>
  /** Creates a platform key that can read everything, or has other permissions, and returns its secret. */
  createKey(permissions?: string): Promise<string>
}

/** Starts the service on a free port, in a data folder that is removed when it stops. */
export async function startWayleave(settings: Record<string, string> = {}): Promise<WayleaveServer> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-bench-'))
  const dataDir = join(folder, 'data')
  // Logs go to a file, as with an init system; reading a pipe would cost the benchmark time.
  const log = join(folder, 'log')
  const output = openSync(log, 'a')
  const child = spawn(process.execPath, [command, 'serve', '--json', '--port', '0', '--data-dir', dataDir], {
    env: { ...process.env, ...unlimited, ...settings },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const exited = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  for (;;) {
    const text = readFileSync(log, 'utf8')
    const url = /^\{"url":"([^"]+)"/m.exec(text)?.[1]
    if (url) {
      const operate = operatorOf(dataDir, settings)
      return {
        origin: url,
        pid: child.pid!,
        dataDir,
        stop,
        operate,
        measure: (...args) => {
          const all = [command, ...args, '--json', '--data-dir', dataDir]
          return runMeasured(process.execPath, all, { environment: settings, isTree: true })
        },
        createKey: (permissions) => createKey(operate, permissions),
      }
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      await stop()
      throw new Error(`The service did not start:\n${text}`)
    }
    await delay(20)
  }
}

function operatorOf(dataDir: string, settings: Record<string, string>): WayleaveServer['operate'] {
  return async <T>(...args: string[]) => {
    const all = [command, ...args, '--json', '--data-dir', dataDir]
    const env = { ...process.env, ...settings }
    const { stdout } = await promisify(execFile)(process.execPath, all, { maxBuffer: 1 << 24, env })
    return JSON.parse(stdout) as T
  }
}

async function createKey(operate: WayleaveServer['operate'], permissions = 'read'): Promise<string> {
  const wishes = ['--platform', '--name', 'Bench', '--permissions', permissions]
  return (await operate<{ secret: string }>('key', 'create', ...wishes)).secret
}
