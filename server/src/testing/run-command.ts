import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestServer } from './test-server.ts'

const program = fileURLToPath(new URL('../../bin/wayleave.js', import.meta.url))

export interface CommandResult {
  code: number
  stdout: string
  stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape.
  json: any
}

/** Runs the real program, in a separate process, on the folder and database of a running service. */
export function runCommand(
  place: Pick<TestServer['config'], 'dataDir' | 'databaseUrl'>,
  ...args: string[]
): Promise<CommandResult> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const env: NodeJS.ProcessEnv = { PATH, NODE_COMPILE_CACHE, WAYLEAVE_DATA_DIR: place.dataDir }
  if (place.databaseUrl) env['WAYLEAVE_DATABASE_URL'] = place.databaseUrl
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { env, cwd: place.dataDir }, (error, stdout, stderr) => {
      const code = error ? error.code : 0
      if (typeof code !== 'number') reject(error)
      else resolve({ code, stdout, stderr, json: args.includes('--json') ? parse(stdout) : undefined })
    })
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
