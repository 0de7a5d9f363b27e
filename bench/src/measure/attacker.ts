import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Attack {
  port: number
  /** The bytes of the request that a connection sends again and again; connections take them in turn. */
  texts: readonly string[]
  connections: number
  milliseconds: number
}

export interface Attacked {
  responses: number
  /** How many responses had each status. */
  statuses: Record<string, number>
}

/** Sends requests to a server on this machine, in a process of its own, so that reading responses delays nobody. */
export async function attack(order: Attack): Promise<Attacked> {
  const client = fork(fileURLToPath(new URL('./attacker-process.ts', import.meta.url)))
  const exited = once(client, 'exit')
  client.send(order)
  const [result] = await Promise.race([
    once(client, 'message'),
    exited.then(() => Promise.reject(new Error('The attacker died'))),
  ])
  await exited
  return result as Attacked
}
