import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import fastify from 'fastify'
import { readConfig } from '../../base/settings/config.ts'
import { aboutOf } from '../../http/about.ts'
import type { App } from '../../http/fastify-app.ts'
import { html } from '../../http/pages/html.ts'
import { asProblem, sendProblem } from '../../http/send-problem.ts'
import { consoleRoutes } from './routes.ts'

const about = aboutOf(readConfig({ environment: {}, file: null }))

async function appOn(build: string, basemap: string | null = null): Promise<App> {
  const app = fastify() as unknown as App
  app.setErrorHandler((error, request, reply) =>
    sendProblem(asProblem(error), request, reply, {
      baseUrl: () => 'http://localhost',
      contactUrl: null,
      about,
    }),
  )
  consoleRoutes(app, {
    headOf: async (_request, table) => html`<title>Console ${table ?? ''}</title>`,
    about,
    basemap,
    build: pathToFileURL(`${build}/`),
  })
  await app.ready()
  return app
}

test('the console is served at its own paths, its files for ever and its page never from a cache', async (t) => {
  const build = await mkdtemp(join(tmpdir(), 'console-build-'))
  t.after(() => rm(build, { recursive: true }))
  await mkdir(join(build, 'assets'))
  await writeFile(join(build, 'index.html'), '<!doctype html><title>Console</title>')
  await writeFile(join(build, 'theme.js'), '1')
  await writeFile(join(build, 'secret.txt'), 'not for anyone')
  await writeFile(join(build, 'assets', 'index-Ab12.js'), 'export const answer = 42')
  await writeFile(join(build, 'assets', 'map-Cd34.js'), 'export const map = 1')
  await writeFile(join(build, 'assets', 'map-Cd34.js.br'), brotliCompressSync('as the build packed it'))
  const app = await appOn(build)

  for (const path of ['/', '/sign-in', '/datasets/places', '/keys/key_1', '/organization/members']) {
    const page = await app.inject(path)
    assert.equal(page.statusCode, 200, path)
    assert.match(page.body, /Console/)
    assert.equal(page.headers['cache-control'], 'no-cache')
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'; script-src 'self'/)
  }
  for (const path of ['/', '/theme.js']) {
    const { headers } = await app.inject(path)
    const again = await app.inject({ url: path, headers: { 'if-none-match': String(headers.etag) } })
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', headers.etag], path)
  }
  const asset = await app.inject('/assets/index-Ab12.js')
  assert.equal(asset.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(asset.body, 'export const answer = 42')
  const packed = await app.inject({
    url: '/assets/index-Ab12.js',
    headers: { 'accept-encoding': 'gzip, br' },
  })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  const refused = await app.inject({
    url: '/assets/index-Ab12.js',
    headers: { 'accept-encoding': 'gzip;q=0, br' },
  })
  assert.deepEqual([refused.headers['content-encoding'], refused.body], [undefined, asset.body])
  const better = await app.inject({ url: '/assets/map-Cd34.js', headers: { 'accept-encoding': 'gzip, br' } })
  assert.deepEqual(
    [better.headers['content-encoding'], brotliDecompressSync(better.rawPayload).toString()],
    ['br', 'as the build packed it'],
  )
  assert.equal((await app.inject('/assets/map-Cd34.js.br')).statusCode, 404)

  const strangers = ['/nowhere', '/v1/nowhere', '/docs/nowhere', '/assets/none.js', '/assets/..%2Fsecret.txt']
  for (const path of [...strangers, '/assets/..%2F..%2Fpackage.json', '/secret.txt', '/keys/a/b']) {
    assert.equal((await app.inject(path)).statusCode, 404, path)
  }
})

test('without a build, a page says how to make one', async () => {
  const app = await appOn(join(tmpdir(), 'no-such-build'))
  const page = await app.inject('/')
  assert.equal(page.statusCode, 200)
  assert.match(page.body, /npm run build --workspace console/)
  assert.equal((await app.inject('/theme.js')).statusCode, 404)
})

test('only the map for other sites may be framed, and only the origin of the basemap may be loaded from', async (t) => {
  const build = await mkdtemp(join(tmpdir(), 'console-build-'))
  t.after(() => rm(build, { recursive: true }))
  for (const name of ['index.html', 'embed.html']) {
    await writeFile(join(build, name), `<!doctype html><title>Console</title>${name}`)
  }
  const policyOf = async (app: App, path: string) => {
    const { headers, body } = await app.inject(path)
    const directives = String(headers['content-security-policy']).split('; ')
    const sourcesOf = (name: string) =>
      directives.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1)
    return { sourcesOf, body, frames: sourcesOf('frame-ancestors') }
  }
  const plain = await appOn(build)
  assert.equal((await policyOf(plain, '/datasets/places')).frames, "'none'")
  const embedded = await policyOf(plain, '/embed/places')
  assert.equal(embedded.frames, '*')
  assert.match(embedded.body, /embed\.html/)
  assert.equal(embedded.sourcesOf('connect-src'), "'self'")
  assert.match(embedded.body, /id="console-settings">{"basemap":null}</)

  const address = 'https://tiles.example.org:8443/styles/</script>.json?key=1'
  const mapped = await appOn(build, address)
  for (const path of ['/datasets/places', '/embed/places']) {
    const { sourcesOf, body } = await policyOf(mapped, path)
    assert.equal(sourcesOf('connect-src'), "'self' https://tiles.example.org:8443", path)
    assert.equal(sourcesOf('img-src'), "'self' data: blob: https://tiles.example.org:8443", path)
    assert.equal(sourcesOf('script-src'), "'self'", path)
    const [, settings] = /id="console-settings">(.*?)<\/script>/.exec(body)!
    assert.deepEqual(JSON.parse(settings!), { basemap: address })
  }
})
