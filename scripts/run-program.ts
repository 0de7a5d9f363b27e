import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs a program that prints to the same terminal. Throws if it fails. */
export async function runProgram(program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`This command failed: ${[program, ...args].join(' ')}`)
}
