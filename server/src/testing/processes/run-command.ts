import { execFile } from 'node:child_process'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import type { TestServer } from '../test-server.ts'
import { type CommandOutput, runInSharedProcess } from './shared-process.ts'

export interface CommandResult extends CommandOutput {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape.
  json: any
}

type Place = Pick<TestServer['config'], 'dataDir' | 'databaseUrl'> &
  Partial<Pick<TestServer['config'], 'storageUrl' | 's3Endpoint' | 'tileMaxZoom'>>

/**
 * Runs a command on the folder and database of a running service, in a process that all commands of a test
 * file share.
 */
export async function runCommand(place: Place, ...args: string[]): Promise<CommandResult> {
  const output = await runInSharedProcess({ args, settings: settingsOf(place), cwd: place.dataDir })
  return { ...output, json: documentOf(args, output.stdout) }
}

/** Runs the real program in a process of its own, as operators do. */
export function runProgramFile(place: Place, ...args: string[]): Promise<CommandResult> {
  const { PATH = '', NODE_COMPILE_CACHE, NODE_OPTIONS, UV_THREADPOOL_SIZE } = process.env
  const own = { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS, UV_THREADPOOL_SIZE }
  const env: NodeJS.ProcessEnv = { ...own, ...settingsOf(place) }
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...testedProgramArguments(), ...args],
      { env, cwd: place.dataDir },
      (error, stdout, stderr) => {
        const code = error ? error.code : 0
        if (typeof code !== 'number') reject(error)
        else resolve({ code, stdout, stderr, json: documentOf(args, stdout) })
      },
    )
  })
}

function settingsOf(place: Place): Record<string, string> {
  const { dataDir, databaseUrl, storageUrl, s3Endpoint, tileMaxZoom } = place
  return {
    WAYLEAVE_DATA_DIR: dataDir,
    ...(databaseUrl && { WAYLEAVE_DATABASE_URL: databaseUrl }),
    ...(storageUrl && { WAYLEAVE_STORAGE_URL: storageUrl }),
    ...(s3Endpoint && { WAYLEAVE_S3_ENDPOINT: s3Endpoint }),
    ...(tileMaxZoom !== undefined && { WAYLEAVE_TILE_MAX_ZOOM: String(tileMaxZoom) }),
  }
}

function documentOf(args: string[], stdout: string): unknown {
  if (!args.includes('--json')) return undefined
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined
  }
}
