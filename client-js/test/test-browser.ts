import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'

import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const maplibre = dirname(fileURLToPath(import.meta.resolve('maplibre-gl/dist/maplibre-gl.mjs')))

const LONGEST_PAGE_MS = 90_000

/**
 * Runs a module in a page of a real Chromium, with an origin other than the service's, and returns the value
 * that the module passes to `report`. `@wayleave/client` resolves to the given file, `maplibre-gl` to the
 * library itself.
 */
export async function inBrowser(clientFile: string, module: string): Promise<unknown> {
  const chromium = process.env['WAYLEAVE_TEST_CHROMIUM']
  if (!chromium) throw new Error('WAYLEAVE_TEST_CHROMIUM is not set: run the tests with npm test.')
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const imports = { '@wayleave/client': '/client.js', 'maplibre-gl': '/maplibre/maplibre-gl.mjs' }
  const page = `<!doctype html><body><div id="map" style="width: 400px; height: 300px"></div>
    <script type="importmap">${JSON.stringify({ imports })}</script>
    <script type="module">
      const send = (what) => fetch('/report', { method: 'POST', body: JSON.stringify(what) })
      globalThis.report = (value) => send({ value })
      import('/module.js').catch((error) => send({ error: String(error.stack ?? error) }))
    </script>`
  const fileOf = (path: string): [type: string, text: string] | undefined => {
    if (path === '/') return ['text/html', page]
    if (path === '/client.js') return ['text/javascript', readFileSync(clientFile, 'utf8')]
    if (path === '/module.js') return ['text/javascript', module]
    const name = /^\/maplibre\/([\w-]+\.mjs)$/.exec(path)?.[1]
    return name ? ['text/javascript', readFileSync(join(maplibre, name), 'utf8')] : undefined
  }
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = ''
      for await (const chunk of request) body += chunk
      const { value, error } = JSON.parse(body)
      if (error) reject(new Error(error))
      else resolve(value)
    }
    const file = fileOf(new URL(request.url!, 'http://page').pathname)
    response.writeHead(file ? 200 : 404, { 'content-type': file?.[0] ?? 'text/plain' }).end(file?.[1])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const profile = mkdtempSync(join(tmpdir(), 'wayleave-browser-'))
  // MapLibre needs WebGL; SwiftShader renders it without a graphics card.
  const webgl = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']
  const flags = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', ...webgl]
  const args = [...flags, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`]
  const child = spawn(chromium, args, { stdio: 'ignore', detached: true })
  child.on('error', reject)
  child.on('exit', () => reject(new Error('Chromium ended before the page reported.')))
  const exited = once(child, 'exit')
  const timer = setTimeout(() => reject(new Error('The page did not report.')), LONGEST_PAGE_MS)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    // Kill the whole process group: Chromium leaves helper processes behind.
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
    await exited
    server.closeAllConnections()
    server.close()
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}
