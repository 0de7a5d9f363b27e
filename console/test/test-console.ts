import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { testedProgramArguments } from '../../scripts/program/tested-program.ts'
import { CHROMIUM_NAMES, findProgram } from '../../scripts/test-servers/debian.ts'
import { drawMaps, drawMapsIfAsked } from './test-page-actions.ts'

const root = join(import.meta.dirname, '..', '..')

export const ADMINISTRATOR = 'admin@example.org'

/** A real server on an empty data folder, with the built console and a real browser. */
export interface TestConsole {
  url: string
  dataDir: string
  browser: Browser
  /** Errors that pages threw, and violations of their Content-Security-Policy. */
  faults: string[]
  /** Opens a separate browser window without a session. Its pages draw maps only if asked to. */
  open(
    options?: Parameters<Browser['newContext']>[0] & { hasMaps?: boolean },
  ): Promise<{ context: BrowserContext; page: Page }>
  /** Signs in as users do: with the link from the mail in the outbox. */
  signIn(page: Page, email: string): Promise<void>
  /** Waits for the newest link mailed to an address that was not returned before. */
  mailedLink(email: string): Promise<{ link: string; code: string }>
  close(): Promise<void>
}

export async function startConsole(
  settings: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): Promise<TestConsole> {
  buildConsole()
  const dataDir = mkdtempSync(join(tmpdir(), 'wayleave-console-'))
  const server = await startServer(dataDir, settings, flags)
  const browser = await chromium.launch({
    executablePath: process.env['WAYLEAVE_TEST_CHROMIUM'] || installedChromium(),
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      // Maps are drawn by software; to compose the pages by software directly takes less time.
      '--disable-gpu-compositing',
      '--num-raster-threads=1',
    ],
  })
  const taken = new Set<string>()
  const faults: string[] = []

  const mailedLink = async (email: string) => {
    const folder = join(dataDir, 'outbox')
    for (let tries = 0; tries < 15_000; tries++) {
      const names = existsSync(folder) ? readdirSync(folder).sort() : []
      for (const name of names.filter((one) => one.endsWith('.eml') && !taken.has(one))) {
        const source = readFileSync(join(folder, name), 'utf8')
        if (!source.toLowerCase().includes(`\r\nto: ${email}\r\n`)) continue
        taken.add(name)
        const link = /^https?:\S+$/m.exec(source)?.[0] ?? ''
        return { link, code: /^\d{6}\r?$/m.exec(source)?.[0].trim() ?? '' }
      }
      await sleep(20)
    }
    throw new Error(`No mail to ${email} came.`)
  }

  return {
    url: server.url,
    dataDir,
    browser,
    faults,
    mailedLink,
    open: async ({ hasMaps = false, ...options } = {}) => {
      // Without motion, because every picture of a map takes long without a graphics processor.
      const defaults = { viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' } as const
      const context = await browser.newContext({ ...defaults, ...options })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url })
      context.setDefaultTimeout(180_000)
      await context.addInitScript(drawMapsIfAsked)
      const page = await context.newPage()
      if (hasMaps) await drawMaps(page)
      context.on('weberror', (event) => faults.push(event.error().message))
      context.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) faults.push(message.text())
      })
      return { context, page }
    },
    signIn: async (page, email) => {
      await page.goto(`${server.url}/sign-in`)
      await page.getByLabel('Email address').fill(email)
      await page.getByRole('button', { name: 'Send the link' }).click()
      await page.getByRole('heading', { name: 'Check your email' }).waitFor()
      await page.goto((await mailedLink(email)).link)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Getting started' }).waitFor()
    },
    close: async () => {
      await browser.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Without `npm test`, such as for `npm run pictures`. */
function installedChromium(): string {
  const path = findProgram(...CHROMIUM_NAMES)
  if (!path) throw new Error(`None of ${CHROMIUM_NAMES.join(', ')} is installed.`)
  return path
}

/**
 * Builds the console like `npm start`: only if there is no build or it is outdated. Locked, because test
 * files run in parallel.
 */
export function buildConsole(): void {
  // A full run has built it with the program.
  if (process.env['WAYLEAVE_TEST_PROGRAM']) return
  const cache = join(root, '.cache')
  mkdirSync(cache, { recursive: true })
  const lock = join(cache, 'console-build.lock')
  const wait = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; !takeLock(lock); tries++) {
    // A lock this old was left by a process that died.
    if (tries > 1500) rmSync(lock, { recursive: true, force: true })
    Atomics.wait(wait, 0, 0, 200)
  }
  try {
    runBuild()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

function runBuild(): void {
  const script = `import { ensureConsole } from './scripts/console-build.ts'; ensureConsole(process.cwd())`
  const build = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  })
  if (build.status !== 0) throw new Error(build.stderr)
}

export async function startServer(
  dataDir: string,
  settings: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): Promise<{ url: string; stop: () => Promise<void> }> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...testedProgramArguments(), 'serve', '--json', '--port', '0', '--data-dir', dataDir, ...flags],
    {
      env: {
        ...process.env,
        WAYLEAVE_ADMINS: ADMINISTRATOR,
        WAYLEAVE_LOG_LEVEL: 'warn',
        // The tests make a whole day's requests in a minute, from one address.
        WAYLEAVE_KEY_RATE: '100000',
        WAYLEAVE_TILES: 'false',
        WAYLEAVE_USER_RATE: '100000',
        WAYLEAVE_ADDRESS_RATE: '100000',
        WAYLEAVE_SIGN_IN_ADDRESS_RATE: '10000',
        WAYLEAVE_SIGN_IN_RATE: '1000',
        // To try the sandbox takes a process for every server.
        WAYLEAVE_SANDBOX: 'off',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const stop = async () => {
    if (child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
  for await (const line of createInterface({ input: child.stdout! })) {
    return { url: (JSON.parse(line) as { url: string }).url, stop }
  }
  throw new Error(`The server ended with exit code ${child.exitCode} before it listened.`)
}
