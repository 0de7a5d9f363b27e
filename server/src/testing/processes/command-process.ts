/**
 * Runs the program's commands one after another in one process, for tests that run many: starting a process
 * for each would take most of their time. Reads one request per line from standard input, and writes one
 * result per line. Files are compiled in this process too.
 */
import { createInterface } from 'node:readline'
import { compileSnapshot, inspectSource } from '@wayleave/geodata/compile'
import { runProgram } from '../../command/program.ts'
import type { CommandOutput, CommandRequest } from './shared-process.ts'

process.umask(0o077)
const writeResult = process.stdout.write.bind(process.stdout)
for await (const line of createInterface({ input: process.stdin })) {
  writeResult(`${JSON.stringify(await run(JSON.parse(line)))}\n`)
}

async function run({ args, settings, cwd }: CommandRequest): Promise<CommandOutput> {
  for (const name of Object.keys(process.env)) if (name.startsWith('WAYLEAVE_')) delete process.env[name]
  Object.assign(process.env, settings)
  process.chdir(cwd)
  process.exitCode = 0
  const output = { stdout: '', stderr: '' }
  capture(process.stdout, (text) => {
    output.stdout += text
  })
  capture(process.stderr, (text) => {
    output.stderr += text
  })
  const code = await runProgram(args, { compile: compileSnapshot, inspect: inspectSource })
  process.exitCode = 0
  return { code, ...output }
}

function capture(stream: NodeJS.WriteStream, add: (text: string) => void): void {
  stream.write = (text: Uint8Array | string) => {
    add(String(text))
    return true
  }
}
