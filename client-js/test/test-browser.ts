import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'

import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const maplibre = dirname(fileURLToPath(import.meta.resolve('maplibre-gl/dist/maplibre-gl.mjs')))

const LONGEST_PAGE_MS = 90_000

interface PageRun {
  clientFile: string
  module: string
  resolve(value: unknown): void
  reject(error: Error): void
}

interface Browser {
  /** Loads a new page, which runs the module. */
  open(run: PageRun): void
  close(): Promise<void>
}

let browser: Promise<Browser> | undefined

/**
 * Runs a module in a new page of a real Chromium, with an origin other than the service's, and returns the value
 * that the module passes to `report`. `@wayleave/client` resolves to the given file, `maplibre-gl` to the
 * library itself. One Chromium is started for all pages of a test file, which are loaded one after the other.
 */
export async function inBrowser(clientFile: string, module: string): Promise<unknown> {
  browser ??= startBrowser()
  const { open } = await browser
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const timer = setTimeout(() => reject(new Error('The page did not report.')), LONGEST_PAGE_MS)
  open({ clientFile, module, resolve, reject })
  return promise.finally(() => clearTimeout(timer))
}

/** To be called after the tests of a file that use `inBrowser`. */
export async function closeBrowser(): Promise<void> {
  const running = await browser
  browser = undefined
  await running?.close()
}

const imports = { '@wayleave/client': '/client.js', 'maplibre-gl': '/maplibre/maplibre-gl.mjs' }

/** The page reports once. It is replaced by a new one as soon as there is another module to run. */
const page = `<!doctype html><body><div id="map" style="width: 400px; height: 300px"></div>
  <script type="importmap">${JSON.stringify({ imports })}</script>
  <script type="module">
    const send = (what) => fetch('/report', { method: 'POST', body: JSON.stringify(what) })
    globalThis.report = (value) => send({ value })
    fetch('/next').then(() => {
      sessionStorage.clear()
      location.reload()
    })
    import('/module.js').catch((error) => send({ error: String(error.stack ?? error) }))
  </script>`

async function startBrowser(): Promise<Browser> {
  const chromium = process.env['WAYLEAVE_TEST_CHROMIUM']
  if (!chromium) throw new Error('WAYLEAVE_TEST_CHROMIUM is not set: run the tests with npm test.')
  let current: PageRun | undefined
  let next = Promise.withResolvers<void>()
  const fileOf = (path: string): [type: string, text: string] | undefined => {
    if (path === '/') return ['text/html', page]
    if (path === '/client.js') return ['text/javascript', readFileSync(current!.clientFile, 'utf8')]
    if (path === '/module.js') return ['text/javascript', current!.module]
    const name = /^\/maplibre\/([\w-]+\.mjs)$/.exec(path)?.[1]
    return name ? ['text/javascript', readFileSync(join(maplibre, name), 'utf8')] : undefined
  }
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://page').pathname
    if (path === '/next') await next.promise
    if (request.method === 'POST') {
      let body = ''
      for await (const chunk of request) body += chunk
      const { value, error } = JSON.parse(body)
      if (error) current!.reject(new Error(error))
      else current!.resolve(value)
    }
    const file = fileOf(path)
    const headers = { 'content-type': file?.[0] ?? 'text/plain', 'cache-control': 'no-store' }
    response.writeHead(file ? 200 : 404, headers).end(file?.[1])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const profile = mkdtempSync(join(tmpdir(), 'wayleave-browser-'))
  // MapLibre needs WebGL; SwiftShader renders it without a graphics card.
  const webgl = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
  const flags = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', ...webgl]
  const args = [...flags, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`]
  let child: ChildProcess | undefined
  const start = (): ChildProcess => {
    const started = spawn(chromium, args, { stdio: 'ignore', detached: true })
    started.on('error', (error) => current!.reject(error))
    started.on('exit', () => current!.reject(new Error('Chromium ended before the page reported.')))
    return started
  }
  return {
    open(run) {
      current = run
      // A page that is loaded is replaced; the first one is loaded by the start.
      if (child) next.resolve()
      next = Promise.withResolvers()
      child ??= start()
    },
    async close() {
      if (child && child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        // Kill the whole process group: Chromium leaves helper processes behind.
        process.kill(-child.pid!, 'SIGKILL')
        await exited
      }
      server.closeAllConnections()
      server.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
