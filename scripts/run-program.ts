import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

/** The `stdio` of programs whose output is for people: standard output may be read by a shell. */
export const TO_STANDARD_ERROR: StdioOptions = ['ignore', 2, 2]

/** Runs a program that prints to standard error. Throws if it fails. */
export async function runProgram(program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: TO_STANDARD_ERROR })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`This command failed: ${[program, ...args].join(' ')}`)
}
