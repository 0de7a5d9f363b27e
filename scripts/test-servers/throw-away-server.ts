import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A server that runs as long as the tests do, in a temporary folder of its own. */
export interface ThrowAwayServer {
  url: string
  /** For tests that pause the server with signals. */
  pid: number
  stop(): Promise<void>
}

export interface ServerRecipe {
  name: string
  /** Returns the program and its arguments; called when the folder is ready and the port is known. */
  prepare(folder: string, port: number): Promise<{ command: string[]; input?: string; url: string }>
  isReady(port: number): Promise<boolean>
  stopSignal: NodeJS.Signals
}

const startAttempts = 3
const readyWithinMs = 30_000
const stopWithinMs = 10_000

export async function startThrowAwayServer(recipe: ServerRecipe): Promise<ThrowAwayServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(recipe)
    } catch (error) {
      // Another program may take the free port before the server listens on it.
      if (attempt === startAttempts) throw error
    }
  }
}

async function startOnce(recipe: ServerRecipe): Promise<ThrowAwayServer> {
  const folder = mkdtempSync(join(tmpdir(), `wayleave-${recipe.name}-`))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  let child: ChildProcess | undefined
  const removeAtExit = () => {
    child?.kill('SIGKILL')
    removeFolder()
  }
  process.on('exit', removeAtExit)
  const stop = async () => {
    if (child) await end(child, recipe.stopSignal)
    removeFolder()
    process.off('exit', removeAtExit)
  }
  try {
    const port = await freePort()
    const { command, input, url } = await recipe.prepare(folder, port)
    let output = ''
    // The server ends with its parent, even if the parent was killed and could not clean up. It has its own
    // process group, so that Ctrl-C does not reach it: the server must outlive the tests that still use it.
    child = spawn('setpriv', ['--pdeathsig', recipe.stopSignal.slice(3), '--', ...command], {
      cwd: folder,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.on('error', (error) => {
      output += error.message
    })
    child.stdout?.on('data', (chunk) => {
      output = (output + chunk).slice(-10_000)
    })
    child.stderr?.on('data', (chunk) => {
      output = (output + chunk).slice(-10_000)
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
    await untilReady(child, () => recipe.isReady(port)).catch((error: Error) => {
      throw new Error(`${recipe.name} did not start: ${error.message}\n${output}`)
    })
    return { url, pid: child.pid!, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilReady(child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + readyWithinMs
  while (Date.now() < deadline) {
    if (hasEnded(child)) throw new Error(`it ended with status ${child.exitCode ?? child.signalCode}`)
    if (await isReady()) return
    await delay(50)
  }
  throw new Error(`it was not ready within ${readyWithinMs / 1000} s`)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
  await ended
  clearTimeout(timer)
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no free port')),
      )
    })
  })
}
