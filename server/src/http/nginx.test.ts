import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { startNginx } from '../../../scripts/test-servers/nginx.ts'
import { operator } from '../base/events/events.ts'
import { openAccount } from '../testing/account.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { documentedExamples } from '../testing/documented-examples.ts'
import { startServerProcess } from '../testing/processes/server-process.ts'
import { points, publishText } from '../testing/publish.ts'
import { openTestServer, temporaryDatabase, temporaryFolder } from '../testing/test-server.ts'

needs('postgres', 'tools', 'processes')

const example = readFileSync(new URL('../../../ops/nginx/wayleave.conf', import.meta.url), 'utf8')

/** nginx with the configuration that the documentation names, in front of these nodes. Returns its address. */
async function openNginx(t: TestContext, nodes: string[], extra = ''): Promise<string> {
  const servers = nodes.map((url) => `server ${new URL(url).host} max_fails=1 fail_timeout=2s;`).join('\n')
  const { url, stop } = await startNginx((port, cache) =>
    [
      extra,
      example
        .replace(/( *server 127\.0\.0\.1:\d+ .*\n)+/, `${servers}\n`)
        .replace('/var/cache/nginx/wayleave', cache)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
        .replace(/ *ssl_certificate.*\n/g, ''),
    ].join('\n'),
  )
  cleanUp(t, stop)
  return url
}

test('behind nginx public responses are cached and private ones never are', async (t) => {
  const service = await openTestServer(t, { settings: { tileMaxZoom: 1 } })
  await publishText(service, 'places', 'places.geojson', points(30))
  const dataset = await service.parts.catalog.find('places')
  await service.parts.tileBuilds.build(dataset)
  const addOns = ['API_ACCESS' as const, 'GIS_ACCESS' as const]
  const ada = await openAccount(service, 'ada@example.org', { addOns, credits: 10 })
  const eve = await openAccount(service, 'eve@example.org', { addOns, credits: 10 })
  const { secret } = await service.parts.keys.createPlatform(operator, { name: 'P', permissions: ['write'] })
  // A cache that keeps for an hour whatever does not forbid it, as some CDNs do.
  const url = await openNginx(t, [service.url], 'proxy_cache_valid any 1h;')
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(url + path, { method, headers, redirect: 'manual' })
    const text = await response.text()
    return {
      status: response.status,
      text,
      headers: response.headers,
      cache: response.headers.get('x-cache-status'),
    }
  }

  const ogc = '/v1/ogc/collections/places'
  for (const path of [
    `${ogc}/items?limit=5`,
    `${ogc}/items/1`,
    `${ogc}/tiles/WebMercatorQuad/0/0/0?version=1`,
    `${ogc}/tiles/WebMercatorQuad?f=tilejson`,
    '/v1/dataset/places/files/csv',
    '/v1/ogc/collections',
  ]) {
    const own = await get(path, { 'x-api-key': ada.key })
    assert.equal(own.status, 200, path)
    assert.match(own.headers.get('cache-control')!, /private|no-store/, path)
    assert.equal((await get(path)).status, 401, `${path} without a key`)
    // A refusal is not kept either.
    const other = await get(path, { 'x-api-key': eve.key })
    assert.equal(other.status, 200, path)
    assert.notEqual(other.cache, 'HIT', path)
  }
  for (const [path, headers] of [
    ['/v1/organization/me', { authorization: `Bearer ${ada.token}` }],
    ['/v1/api-keys/my-keys', { authorization: `Bearer ${ada.token}` }],
    [`/v1/api-keys/${ada.keyId}/usage`, { authorization: `Bearer ${ada.token}` }],
    ['/v1/jobs', { 'x-api-key': secret }],
  ] as const) {
    const own = await get(path, headers)
    assert.equal(own.status, 200, path)
    assert.match(own.headers.get('cache-control')!, /private|no-store/, path)
    assert.equal((await get(path)).status, 401, path)
  }

  // Without a rule of its own, nothing that changes is kept.
  for (const path of ['/v1/dataset/places/archives', '/v1/ogc', '/health', '/v1/openapi.json', '/nowhere']) {
    await get(path)
    assert.notEqual((await get(path)).cache, 'HIT', path)
  }
  const style = '/v1/ogc/style.css'
  const isCached = (await get(style)).status === 200 && (await get(style)).cache === 'HIT'
  assert.ok(isCached, 'a public file is served from the cache')

  const sample = '/v1/dataset/places/sample/json'
  const first = await get(sample)
  assert.equal(first.status, 200)
  assert.deepEqual(JSON.parse((await get(sample)).text), JSON.parse(first.text))
  assert.notEqual((await get(sample, { 'x-api-key': ada.key })).cache, 'HIT', 'with a key it is metered')
  await publishText(service, 'places', 'places.geojson', points(500, 'New'))
  while (!(await get(sample)).text.includes('New')) await sleep(50)
  while (JSON.parse((await get('/v1/dataset/places')).text).version !== 2) await sleep(50)

  const [part, whole] = [
    await get('/v1/dataset/places/files/csv', { 'x-api-key': ada.key, range: 'bytes=0-9' }),
    await get('/v1/dataset/places/files/csv', { 'x-api-key': ada.key }),
  ]
  assert.deepEqual([part.status, part.text], [206, whole.text.slice(0, 10)])
})

test('the short configuration of the page on operating passes requests and their addresses on', async (t) => {
  const service = await openTestServer(t, { settings: { trustedProxies: ['127.0.0.1'] } })
  const location = documentedExamples().find(({ language }) => language === 'nginx')!.code
  const { url, stop } = await startNginx(
    (port) => `server { listen 127.0.0.1:${port};
      ${location.replace('http://localhost:8080', service.url)} }`,
  )
  cleanUp(t, stop)
  const { links } = await (await fetch(`${url}/v1/ogc?f=json`)).json()
  assert.ok(links.length > 0)
  await service.stop()
  assert.ok(service.logLines.some((line) => line.includes('"/v1/ogc')))
})

test('behind nginx a node drains and stops without a failed request', {
  skip: lacks('postgres'),
}, async (t) => {
  const dataDir = temporaryFolder(t)
  const databaseUrl = await temporaryDatabase(t)
  const service = await openTestServer(t, { dataDir, databaseUrl })
  await publishText(service, 'places', 'places.geojson', points(30))
  const { secret: key } = await service.parts.keys.createPlatform(operator, {
    name: 'P',
    permissions: ['read'],
  })
  const environment = {
    WAYLEAVE_DATABASE_URL: databaseUrl,
    WAYLEAVE_DRAIN_SECONDS: '1',
    WAYLEAVE_ROLE: 'api',
    // A busy machine stands still now and then.
    WAYLEAVE_MAX_EVENT_LOOP_DELAY: '60000',
  }
  const node = await startServerProcess(t, dataDir, environment)
  const url = await openNginx(t, [service.url, node.url])
  const responses = new Map<string, number>()
  let isOver = false
  const client = async () => {
    while (!isOver) {
      const response = await fetch(`${url}/v1/ogc/collections/places/items?limit=2`, {
        headers: { 'x-api-key': key },
      })
      const { code = '' } = (await response.json()) as { code?: string }
      const outcome = `${response.status} ${code}`.trim()
      responses.set(outcome, (responses.get(outcome) ?? 0) + 1)
    }
  }
  const clients = Promise.all([client(), client(), client()])
  while ((responses.get('200') ?? 0) < 50) await sleep(10)
  const exit = once(node.child, 'exit')
  node.child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
  const served = responses.get('200')!
  while (responses.get('200')! < served + 50) await sleep(10)
  isOver = true
  await clients
  assert.deepEqual([...responses.keys()], ['200'])
})
