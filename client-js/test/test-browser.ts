import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const maplibre = dirname(fileURLToPath(import.meta.resolve('maplibre-gl/dist/maplibre-gl.mjs')))

const LONGEST_PAGE_MS = 90_000

/** A module that runs in a page, and what it reports. */
interface Run {
  clientFile: string
  module: string
  result: PromiseWithResolvers<unknown>
}

let browser: Promise<TestBrowser> | undefined

/**
 * Runs a module in a page of a real Chromium, with an origin other than the service's, and returns the value
 * that the module passes to `report`. `@wayleave/client` resolves to the given file, `maplibre-gl` to the
 * library itself. All modules of a test file run in the same browser, each in its own frame: starting
 * Chromium takes longer than most of them.
 */
export async function inBrowser(clientFile: string, module: string): Promise<unknown> {
  browser ??= TestBrowser.start()
  return (await browser).run(clientFile, module)
}

/** Test files that call `inBrowser` call this in `after`. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = undefined
}

/** The page that the browser shows: it asks for the next run, and shows it in a frame until it has reported. */
const outerPage = `<!doctype html><body><script type="module">
  for (;;) {
    const number = await (await fetch('/next')).text()
    const frame = document.createElement('iframe')
    Object.assign(frame, { src: '/' + number + '/', width: 500, height: 400 })
    document.body.append(frame)
    await fetch('/' + number + '/end')
    frame.remove()
  }
</script>`

const framePage = `<!doctype html><body><div id="map" style="width: 400px; height: 300px"></div>
  <script type="importmap">${JSON.stringify({
    imports: { '@wayleave/client': './client.js', 'maplibre-gl': '/maplibre/maplibre-gl.mjs' },
  })}</script>
  <script type="module">
    const send = (what) => fetch('report', { method: 'POST', body: JSON.stringify(what) })
    globalThis.report = (value) => send({ value })
    import('./module.js').catch((error) => send({ error: String(error.stack ?? error) }))
  </script>`

class TestBrowser {
  readonly #runs: Run[] = []
  /** Resolves when there is a run that the outer page has not shown yet. */
  #added = Promise.withResolvers<void>()
  #shown = 0
  readonly #server = createServer((request, response) => void this.#respond(request, response))
  readonly #profile = mkdtempSync(join(tmpdir(), 'wayleave-browser-'))
  #child: ChildProcess | undefined

  static async start(): Promise<TestBrowser> {
    const chromium = process.env['WAYLEAVE_TEST_CHROMIUM']
    if (!chromium) throw new Error('WAYLEAVE_TEST_CHROMIUM is not set: run the tests with npm test.')
    const one = new TestBrowser()
    await once(one.#server.listen(0, '127.0.0.1'), 'listening')
    const { port } = one.#server.address() as { port: number }
    // MapLibre needs WebGL; SwiftShader renders it without a graphics card.
    const webgl = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
    const flags = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', ...webgl]
    const args = [...flags, `--user-data-dir=${one.#profile}`, `http://127.0.0.1:${port}/`]
    one.#child = spawn(chromium, args, { stdio: 'ignore', detached: true })
    const fail = (error: Error) => {
      for (const { result } of one.#runs) result.reject(error)
    }
    one.#child.on('error', fail)
    one.#child.on('exit', () => fail(new Error('Chromium ended before the page reported.')))
    return one
  }

  async run(clientFile: string, module: string): Promise<unknown> {
    const result = Promise.withResolvers<unknown>()
    this.#runs.push({ clientFile, module, result })
    this.#added.resolve()
    const timer = setTimeout(() => result.reject(new Error('The page did not report.')), LONGEST_PAGE_MS)
    try {
      return await result.promise
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    const child = this.#child!
    // Kill the whole process group: Chromium leaves helper processes behind.
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      process.kill(-child.pid!, 'SIGKILL')
      await exit
    }
    this.#server.closeAllConnections()
    this.#server.close()
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10 })
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const file = await this.#find(request)
    response.writeHead(file ? 200 : 404, { 'content-type': file?.[0] ?? 'text/plain' }).end(file?.[1])
  }

  async #find(request: IncomingMessage): Promise<[type: string, text: string] | undefined> {
    const path = request.url!.slice(1)
    if (path === '') return ['text/html', outerPage]
    if (path === 'next') return ['text/plain', `${await this.#next()}`]
    const library = /^maplibre\/([\w-]+\.mjs)$/.exec(path)?.[1]
    if (library) return ['text/javascript', readFileSync(join(maplibre, library), 'utf8')]
    const [number, name] = path.split('/')
    const run = this.#runs[Number(number)]
    if (!run) return undefined
    if (name === '') return ['text/html', framePage]
    if (name === 'client.js') return ['text/javascript', readFileSync(run.clientFile, 'utf8')]
    if (name === 'module.js') return ['text/javascript', run.module]
    if (name === 'report') {
      let body = ''
      for await (const chunk of request) body += chunk
      const { value, error } = JSON.parse(body)
      if (error) run.result.reject(new Error(error))
      else run.result.resolve(value)
      return ['text/plain', '']
    }
    if (name !== 'end') return undefined
    await run.result.promise.catch(() => {})
    return ['text/plain', '']
  }

  async #next(): Promise<number> {
    while (this.#shown === this.#runs.length) {
      this.#added = Promise.withResolvers<void>()
      await this.#added.promise
    }
    return this.#shown++
  }
}
