import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { testedProgramArguments } from '../../../scripts/program/tested-program.ts'
import type { DrillRun } from '../drill.ts'
import { descendantsOf, isAlive, signalProcess, waitUntil } from './processes.ts'

/** No machine is so busy: this ends waits for a server that never listens. */
const START_WITHIN_MS = 600_000
const COMMAND_WITHIN_MS = 120_000

/** The drills send requests faster than users do. The drill of the limits sets its own. */
const UNLIMITED = {
  WAYLEAVE_KEY_RATE: '100000000',
  WAYLEAVE_TILES: 'false',
  WAYLEAVE_USER_RATE: '100000000',
  WAYLEAVE_ADDRESS_RATE: '100000000',
  WAYLEAVE_SIGN_IN_RATE: '100000',
  WAYLEAVE_SIGN_IN_ADDRESS_RATE: '1000000',
  WAYLEAVE_KEYS_PER_USER: '100000',
  WAYLEAVE_KEYS_PER_ORGANIZATION: '100000',
  WAYLEAVE_MAX_EVENT_LOOP_DELAY: '60000',
  WAYLEAVE_LOG_LEVEL: 'info',
}

export const ADMINISTRATOR = 'administrator@example.org'

/** A server process of the installation. */
export interface ServerNode {
  name: string
  url: string
  child: ChildProcess
  pid: number
}

export interface CommandOutcome {
  /** Null if a signal ended the process. */
  code: number | null
  stdout: string
  stderr: string
}

export interface StartOptions {
  environment?: Record<string, string>
  databaseUrl?: string
}

/** A data folder and a database, with the real program as server nodes and command line. */
export class Installation {
  readonly run: DrillRun
  readonly databaseUrl: string | null
  readonly environment: Record<string, string>
  dataDir: string
  /** Each node has a new, empty data folder, as on a machine of its own: what they share is in a bucket. */
  readonly ownFolders: boolean
  readonly #folders = new Set<string>()
  /** The nodes that serve requests. */
  readonly nodes: ServerNode[] = []
  /** The nodes that only run jobs. */
  readonly jobNodes: ServerNode[] = []
  readonly #commands = new Set<ChildProcess>()
  #starts = 0

  constructor(
    run: DrillRun,
    options: {
      dataDir?: string
      databaseUrl?: string | null
      environment?: Record<string, string>
      ownFolders?: boolean
    } = {},
  ) {
    this.run = run
    this.dataDir = options.dataDir ?? join(run.folder, 'data')
    this.databaseUrl = options.databaseUrl ?? null
    this.environment = options.environment ?? {}
    this.ownFolders = options.ownFolders ?? false
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 })
    run.cleanUp(() => this.killAll())
  }

  /** Starts another node. Throws if it exits before it listens, or does not listen in time. */
  async startNode(options: StartOptions = {}, role: 'all' | 'api' | 'worker' = 'all'): Promise<ServerNode> {
    const name = `${role === 'worker' ? 'worker' : 'node'}-${++this.#starts}`
    const child = this.#spawn(['serve', '--json', '--port', '0', '--role', role], {
      ...options,
      environment: { ...options.environment, ...this.#ownFolder(name) },
    })
    const log = join(this.run.folder, `${name}.log`)
    let errors = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4000)
      appendFileSync(log, text)
    })
    const url = await firstUrl(child, (text) => {
      errors = (errors + text).slice(-4000)
      appendFileSync(log, text)
    })
    if (url === null) {
      const late = hasExited(child) ? '' : `It did not listen within ${START_WITHIN_MS / 1000} s. `
      await this.#end(child)
      throw new StartError(child.exitCode, late + errors)
    }
    const node = { name, url, child, pid: child.pid! }
    const nodes = role === 'worker' ? this.jobNodes : this.nodes
    nodes.push(node)
    return node
  }

  /** Runs an operator's command to its end, in a separate process. */
  async command(args: string[], options: StartOptions = {}): Promise<CommandOutcome> {
    const child = this.#spawn([...args, '--json'], options)
    this.#commands.add(child)
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_WITHIN_MS)
    let stdout = ''
    let stderr = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    await once(child, 'close')
    clearTimeout(timer)
    this.#commands.delete(child)
    return { code: child.exitCode, stdout, stderr }
  }

  /** Runs a command that must succeed, and returns the JSON document that it prints. */
  async operate<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.command(args)
    if (code !== 0) throw new Error(`wayleave ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
    return JSON.parse(stdout) as T
  }

  async killNode(node: ServerNode): Promise<void> {
    await this.#end(node.child)
    this.#forget(node)
  }

  /** Stops a node with SIGTERM; returns whether it exited by itself within the time limit. */
  async stopNode(node: ServerNode, withinMs: number): Promise<boolean> {
    const exit = once(node.child, 'exit')
    signalProcess(node.pid, 'SIGTERM')
    const hasEnded = await waitUntil(() => hasExited(node.child), withinMs)
    if (!hasEnded) signalProcess(node.pid, 'SIGKILL')
    await exit
    this.#forget(node)
    return hasEnded
  }

  /** The running processes of the command line. */
  get commandPids(): number[] {
    return [...this.#commands].filter((child) => !hasExited(child)).map((child) => child.pid!)
  }

  /** The processes that compile snapshots and build exports now, as descendants of nodes and commands. */
  get workerPids(): number[] {
    const roots = [...this.#allNodes.map(({ pid }) => pid), ...this.commandPids]
    return roots.flatMap(descendantsOf)
  }

  /** Every process of the installation, which a power cut stops. */
  get allPids(): number[] {
    return [...this.#allNodes.map(({ pid }) => pid), ...this.commandPids, ...this.workerPids]
  }

  async killAll(): Promise<void> {
    const workers = this.workerPids
    const children = [...this.#allNodes.map(({ child }) => child), ...this.#commands]
    for (const child of children) signalProcess(child.pid!, 'SIGKILL')
    for (const pid of workers) signalProcess(pid, 'SIGKILL')
    await Promise.all(children.map((child) => this.#end(child)))
    await waitUntil(() => !workers.some(isAlive), 10_000)
    this.nodes.length = 0
    this.jobNodes.length = 0
  }

  /** The data folders of all nodes, those that are gone included. */
  get dataDirs(): string[] {
    return [this.dataDir, ...this.#folders]
  }

  #ownFolder(name: string): Record<string, string> {
    if (!this.ownFolders) return {}
    const folder = join(this.run.folder, `data-${name}`)
    mkdirSync(folder, { mode: 0o700 })
    this.#folders.add(folder)
    return { WAYLEAVE_DATA_DIR: folder }
  }

  get #allNodes(): ServerNode[] {
    return [...this.nodes, ...this.jobNodes]
  }

  #forget(node: ServerNode): void {
    for (const nodes of [this.nodes, this.jobNodes]) {
      const index = nodes.indexOf(node)
      if (index >= 0) nodes.splice(index, 1)
    }
  }

  #spawn(args: string[], { environment = {}, databaseUrl }: StartOptions): ChildProcess {
    const { PATH = '', NODE_COMPILE_CACHE, NODE_OPTIONS, UV_THREADPOOL_SIZE } = process.env
    const env: NodeJS.ProcessEnv = {
      PATH,
      ...(NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}),
      ...(NODE_OPTIONS ? { NODE_OPTIONS } : {}),
      ...(UV_THREADPOOL_SIZE ? { UV_THREADPOOL_SIZE } : {}),
      ...UNLIMITED,
      // To try the sandbox takes a process for every server.
      ...(this.run.short ? { WAYLEAVE_SANDBOX: 'off' } : {}),
      WAYLEAVE_ADMINS: ADMINISTRATOR,
      WAYLEAVE_DATA_DIR: this.dataDir,
      WAYLEAVE_THREADS: String(this.run.threads),
      ...this.environment,
      ...environment,
    }
    const url = databaseUrl ?? this.databaseUrl
    if (url) env['WAYLEAVE_DATABASE_URL'] = url
    // The kernel ends the process together with the drill, even if the drill is killed and cannot clean up.
    const command = ['--pdeathsig', 'KILL', '--', process.execPath, ...testedProgramArguments(), ...args]
    return spawn('setpriv', command, { env, cwd: this.run.folder, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  async #end(child: ChildProcess): Promise<void> {
    if (hasExited(child)) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}

/** A server exited before it listened. */
export class StartError extends Error {
  readonly exitCode: number | null
  readonly output: string

  constructor(exitCode: number | null, output: string) {
    super(`The server ended with exit code ${exitCode} before it listened: ${output.trim()}`)
    this.exitCode = exitCode
    this.output = output
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** The address from the first line of standard output; null if there is none. Later output is forwarded. */
async function firstUrl(child: ChildProcess, onOutput: (text: string) => void): Promise<string | null> {
  const lines = createInterface({ input: child.stdout! })
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), START_WITHIN_MS)
    const settle = (url: string | null) => {
      clearTimeout(timer)
      resolve(url)
    }
    lines.on('line', (line) => {
      onOutput(`${line}\n`)
      const url = /^\{"url":"([^"]+)"/.exec(line)?.[1]
      if (url) settle(url)
    })
    child.once('error', () => settle(null))
    child.once('close', () => settle(null))
  })
}
