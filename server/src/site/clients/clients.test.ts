import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { readConfig } from '../../base/settings/config.ts'
import { aboutOf } from '../../http/about.ts'
import { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { asProblem, sendProblem } from '../../http/send-problem.ts'
import { ClientFiles, NPM_PACKAGE, WHEEL } from './client-files.ts'
import { clientRoutes } from './routes.ts'

const about = aboutOf(readConfig({ environment: {}, file: null }))

async function appOn(folder: string): Promise<App> {
  const app = fastify() as unknown as App
  app.setErrorHandler((error, request, reply) =>
    sendProblem(asProblem(error), request, reply, {
      baseUrl: () => 'http://localhost',
      contactUrl: null,
      about,
    }),
  )
  const authenticate = { anonymous: async () => {} } as unknown as Authenticate
  const baseUrl = new BaseUrl('https://data.example.org')
  clientRoutes(app, { authenticate, baseUrl, about }, new ClientFiles(pathToFileURL(`${folder}/`)))
  await app.ready()
  return app
}

test('the clients are served with their types, checksums and caching', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'clients-'))
  t.after(() => rm(folder, { recursive: true }))
  const texts = {
    [WHEEL]: 'wheel',
    [NPM_PACKAGE]: 'package',
    'client.js': 'export {}',
    'client.js.map': '{}',
  }
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'other.tgz'), 'not a client')
  const app = await appOn(folder)

  for (const [path, mediaType, seconds] of [
    [`/clients/${WHEEL}`, 'application/octet-stream', 3600],
    [`/clients/${NPM_PACKAGE}`, 'application/gzip', 3600],
    ['/client.js', 'text/javascript; charset=utf-8', 300],
    ['/client.js.map', 'application/json', 300],
  ] as const) {
    const response = await app.inject(path)
    const text = texts[path.split('/').at(-1)!]!
    assert.deepEqual([response.statusCode, response.body], [200, text], path)
    assert.equal(response.headers['content-type'], mediaType)
    assert.equal(response.headers['cache-control'], `public, max-age=${seconds}`)
    assert.equal(response.headers['repr-digest'], `sha-256=:${hash('sha256', text, 'base64')}:`)
    const headers = { 'if-none-match': String(response.headers.etag) }
    assert.equal((await app.inject({ url: path, headers })).statusCode, 304)
  }
  const gzipped = await app.inject({ url: '/client.js', headers: { 'accept-encoding': 'gzip' } })
  assert.equal(gzipped.headers['content-encoding'], 'gzip')
  assert.equal(gunzipSync(gzipped.rawPayload).toString(), 'export {}')
  const plain = await app.inject('/client.js')
  assert.notEqual(plain.headers.etag, gzipped.headers.etag)

  const page = await app.inject('/clients')
  assert.match(page.body, new RegExp(`wayleave\\[geo\\] @ https://data.example.org/clients/${WHEEL}`))
  assert.ok(page.body.includes(`href="/clients/${WHEEL}#sha256=${hash('sha256', 'wheel')}"`))

  await writeFile(join(folder, 'client.js'), 'export const changed = 1')
  await utimes(join(folder, 'client.js'), 1e9, 1e9)
  assert.equal((await app.inject('/client.js')).body, 'export const changed = 1')
  for (const name of ['other.tgz', '..%2Fsecret', 'wayleave-0.0.1-py3-none-any.whl']) {
    const missing = await app.inject(`/clients/${name}`)
    assert.equal(missing.statusCode, 404, name)
    assert.match(missing.body, /This instance has wayleave-/)
  }
})

test('an installation without packed clients says how to pack them', async () => {
  const app = await appOn(join(tmpdir(), 'no-such-folder'))
  for (const path of ['/clients', `/clients/${WHEEL}`, '/client.js']) {
    const { statusCode, body } = await app.inject(path)
    assert.equal(statusCode, 404)
    assert.match(body, /npm run clients/)
  }
})
