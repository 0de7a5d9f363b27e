import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The bare server's response to every request: these bytes, or several bodies in turn. */
export interface BareAnswer {
  status?: number
  headers?: Record<string, string>
  body?: Uint8Array
  bodies?: Uint8Array[]
}

export interface RunningServer {
  origin: string
  pid: number
  stop(): Promise<void>
}

/** A plain `node:http` server in a separate process: the baseline cost of the same response. */
export async function startBareServer(answer: BareAnswer): Promise<RunningServer> {
  const program = fileURLToPath(new URL('./bare-server-process.ts', import.meta.url))
  const child = fork(program, { serialization: 'advanced' })
  child.send(answer)
  const [port] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('The bare server did not start'))),
  ])
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}
