import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './debian.ts'

const root = join(import.meta.dirname, '../..')
const VERSION = 'v0.203.0'
/** What its go.mod asks for. Debian 12 has Go 1.19; older versions of stripe-mock do not know the requests that we send. */
const MIN_GO = [1, 22] as const
const COMPILE_WITHIN_MS = 15 * 60_000

/**
 * The variables of the tests about stripe-mock: its path, compiled once into `.cache`, or the reason why there is none.
 * A machine without Go skips one test; it never fails the run.
 */
export async function stripeMockVariables(): Promise<Record<string, string>> {
  const folder = join(root, '.cache', `stripe-mock-${VERSION}`)
  const program = join(folder, 'stripe-mock')
  if (existsSync(program)) return { WAYLEAVE_TEST_STRIPE_MOCK: program }
  const lack = (reason: string) => ({ WAYLEAVE_TEST_STRIPE_MOCK_LACK: `stripe-mock: ${reason}` })
  const go = findProgram('go', '/usr/local/go/bin/go')
  if (go === null) return lack('Go is not installed')
  if (!isRecent(go)) return lack(`${go} is older than ${MIN_GO.join('.')}`)
  mkdirSync(folder, { recursive: true })
  console.log(`Compiling stripe-mock ${VERSION}`)
  try {
    await promisify(execFile)(go, ['install', `github.com/stripe/stripe-mock@${VERSION}`], {
      env: { ...process.env, GOBIN: folder, GOTOOLCHAIN: 'local' },
      timeout: COMPILE_WITHIN_MS,
    })
    return { WAYLEAVE_TEST_STRIPE_MOCK: program }
  } catch (error) {
    return lack(`it could not be compiled: ${(error as Error).message.slice(0, 300)}`)
  }
}

function isRecent(go: string): boolean {
  const { stdout } = spawnSync(go, ['env', 'GOVERSION'], { encoding: 'utf8' })
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(stdout ?? '') ?? []
  return Number(major) > MIN_GO[0] || (Number(major) === MIN_GO[0] && Number(minor) >= MIN_GO[1])
}
