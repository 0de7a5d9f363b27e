import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs a module in a page of a real Chromium, of another origin than the service's, and gives what it hands to
 * `report`. `@wayleave/client` is the file given.
 */
export async function inBrowser(clientFile: string, module: string): Promise<unknown> {
  const chromium = process.env['WAYLEAVE_TEST_CHROMIUM']
  if (!chromium) throw new Error('WAYLEAVE_TEST_CHROMIUM is not set: run the tests with npm test.')
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const page = `<!doctype html><body>
    <script type="importmap">{"imports": {"@wayleave/client": "/client.js"}}</script>
    <script type="module">
      const send = (what) => fetch('/report', { method: 'POST', body: JSON.stringify(what) })
      globalThis.report = (value) => send({ value })
      import('/module.js').catch((error) => send({ error: String(error.stack ?? error) }))
    </script>`
  const files: Record<string, [type: string, text: string]> = {
    '/': ['text/html', page],
    '/client.js': ['text/javascript', readFileSync(clientFile, 'utf8')],
    '/module.js': ['text/javascript', module],
  }
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = ''
      for await (const chunk of request) body += chunk
      const { value, error } = JSON.parse(body)
      if (error) reject(new Error(error))
      else resolve(value)
    }
    const file = files[request.url!]
    response.writeHead(file ? 200 : 404, { 'content-type': file?.[0] ?? 'text/plain' }).end(file?.[1])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  const profile = mkdtempSync(join(tmpdir(), 'wayleave-browser-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const args = [...flags, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`]
  const child = spawn(chromium, args, { stdio: 'ignore', detached: true })
  child.on('error', reject)
  child.on('exit', () => reject(new Error('Chromium ended before the page reported.')))
  const exited = once(child, 'exit')
  try {
    return await promise
  } finally {
    // The whole group: Chromium leaves helpers behind.
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGKILL')
    await exited
    server.closeAllConnections()
    server.close()
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}
