import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { DrillRun } from '../drill.ts'
import { freePort } from './free-port.ts'
import { signalProcess, waitUntil } from './processes.ts'

/** A private Redis of the run, which can be paused, killed and restarted on the same port. */
export class PrivateRedis {
  readonly url: string
  readonly #port: number
  readonly #folder: string
  #child: ChildProcess | null = null

  private constructor(run: DrillRun, port: number) {
    this.#port = port
    this.#folder = run.folder
    this.url = `redis://127.0.0.1:${port}`
    run.cleanUp(() => this.kill())
  }

  static async start(run: DrillRun): Promise<PrivateRedis> {
    const redis = new PrivateRedis(run, await freePort())
    await redis.start()
    return redis
  }

  async start(): Promise<void> {
    const settings = ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'redis-server', ...settings], {
      cwd: this.#folder,
      stdio: 'ignore',
    })
    if (!(await waitUntil(() => responds(this.#port), 10_000))) throw new Error('Redis did not start.')
  }

  freeze(): void {
    signalProcess(this.#child!.pid!, 'SIGSTOP')
  }

  thaw(): void {
    signalProcess(this.#child!.pid!, 'SIGCONT')
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}

function responds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', () => {
      resolve(true)
      socket.destroy()
    })
    socket.on('error', () => resolve(false))
  })
}
