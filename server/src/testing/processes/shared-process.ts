import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** This module imports nothing of the server, so that the tests of the clients can use it. */
const program = fileURLToPath(new URL('./command-process.ts', import.meta.url))

export interface CommandRequest {
  args: string[]
  /** All `WAYLEAVE_` variables of the command. */
  settings: Record<string, string | undefined>
  cwd: string
}

export interface CommandOutput {
  code: number
  stdout: string
  stderr: string
}

let shared: SharedProcess | undefined

/** Runs a command of the program in a child process that all commands of this process share, in order. */
export function runInSharedProcess(request: CommandRequest): Promise<CommandOutput> {
  shared ??= new SharedProcess()
  return shared.run(request)
}

/** It keeps this process alive only while a command runs. */
class SharedProcess {
  readonly #child: ChildProcess
  readonly #waiting: PromiseWithResolvers<CommandOutput>[] = []

  constructor() {
    this.#child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.#waiting.shift()?.resolve(JSON.parse(line))
      if (this.#waiting.length === 0) this.#keepAlive(false)
    })
    this.#child.on('exit', (code, signal) => {
      shared = undefined
      const error = new Error(`The process of the commands ended with ${signal ?? code}.`)
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    })
  }

  run(request: CommandRequest): Promise<CommandOutput> {
    const result = Promise.withResolvers<CommandOutput>()
    this.#waiting.push(result)
    this.#keepAlive(true)
    this.#child.stdin!.write(`${JSON.stringify(request)}\n`)
    return result.promise
  }

  #keepAlive(isBusy: boolean): void {
    const { stdin, stdout } = this.#child
    for (const part of [this.#child, stdin as Socket, stdout as Socket]) {
      if (isBusy) part.ref()
      else part.unref()
    }
  }
}
