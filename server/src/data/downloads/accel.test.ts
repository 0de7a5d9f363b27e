import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { startNginx } from '../../../../scripts/test-servers/nginx.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { flipBit, snapshotFolder } from '../../testing/damage-files.ts'
import { documentedExamples } from '../../testing/documented-examples.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

needs('tools')

const example = readFileSync(new URL('../../../../ops/nginx/wayleave.conf', import.meta.url), 'utf8')
const location = /location \/wayleave-files\/ \{[^}]+\}/.exec(example)![0]
/** nginx sends its requests from here, and is the only proxy that the service trusts. */
const PROXY = '127.0.0.2'

interface Received {
  status: number
  headers: IncomingMessage['headers']
  bytes: Buffer
}

/** The service behind nginx with the location of the documented configuration. */
async function openBehindNginx(t: TestContext) {
  const service = await openTestServer(t, { settings: { downloads: 'accel', trustedProxies: [PROXY] } })
  await publishText(service, 'places', 'places.geojson', points(3000))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
  const folder = await snapshotFolder(service, 'places')
  const location = / {2}location \/wayleave-files\/ \{[^}]+\}/.exec(example)![0]
  const { url, stop } = await startNginx(
    (port) => `server { listen 127.0.0.1:${port}; gzip on; gzip_types *;
      location / { proxy_pass ${service.url}; proxy_bind ${PROXY}; proxy_buffering off; }
      ${location.replace('/var/lib/wayleave/snapshots/', join(folder, '../'))} }`,
  )
  cleanUp(t, stop)
  const ask = async (base: string, path: string, headers: Record<string, string> = {}, options = {}) => {
    const all = { 'x-api-key': account.key, 'accept-encoding': 'identity', ...headers }
    const asking = request(base + path, { headers: all, agent: false, ...options }).end()
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    const pieces: Buffer[] = await response.toArray()
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes: Buffer.concat(pieces),
    } as Received
  }
  const format = (name: string) => `/v1/dataset/places/files/${name}`
  const byNginx = (name: string, headers = {}, options = {}) => ask(url, format(name), headers, options)
  const direct = (name: string, headers = {}, options = {}) =>
    ask(service.url, format(name), headers, options)
  return { service, account, folder, url, ask, byNginx, direct }
}

/** Headers that describe the connection or the moment. */
const OWN = ['connection', 'keep-alive', 'date', 'server', 'x-request-id', 'ratelimit', 'transfer-encoding']

function described(headers: IncomingMessage['headers']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.includes(name)))
}

test('the page on operating has the location of the configuration that is tested here', () => {
  const directives = (text: string) => text.split('\n').map((line) => line.trim().replace(/^#.*/, ''))
  const documented = documentedExamples().find(({ code }) => code.startsWith('location /wayleave-files/'))!
  const lines = directives(location).filter((line) => line !== '')
  assert.deepEqual(directives(documented.code.trim()), lines)
})

test('nginx sends the files of downloads, as the service itself would', async (t) => {
  const { account, service, folder, url, ask, byNginx, direct } = await openBehindNginx(t)
  const address = `/wayleave-files/${folder.split('/').at(-1)}/exports/places.csv`
  const origin = { origin: 'https://example.org' }
  const streamed = await direct('csv', origin)
  assert.equal(streamed.headers['x-accel-redirect'], undefined)
  const asked = await direct('csv', {}, { localAddress: PROXY })
  assert.deepEqual([asked.headers['x-accel-redirect'], asked.bytes.length], [address, 0])
  const sent = await byNginx('csv', origin)
  assert.equal(sent.status, 200)
  assert.ok(sent.bytes.equals(streamed.bytes))
  assert.deepEqual(described(sent.headers), { ...described(streamed.headers), 'credits-charged': '0' })
  assert.equal((await ask(url, address)).status, 404, 'the location is for internal redirects only')

  for (const format of ['geojson', 'geoparquet', 'kml']) {
    const [ours, theirs] = [await direct(format), await byNginx(format)]
    assert.ok(ours.bytes.length > 1000 && theirs.bytes.equals(ours.bytes), format)
    assert.equal(theirs.headers.etag, ours.headers.etag)
  }
  const zipped = await byNginx('csv', { 'accept-encoding': 'gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.ok(gunzipSync(zipped.bytes).equals(streamed.bytes))
  assert.notEqual(zipped.headers.etag, streamed.headers.etag)
  const head = await byNginx('csv', {}, { method: 'HEAD' })
  assert.equal(Number(head.headers['content-length']), streamed.bytes.length)
  // One credit for each of four formats, however often and by whom they were sent.
  assert.equal((await readAccountLedger(service, account)).balance, 96)
})

test('ranges and conditions are those of the service, and cost nothing again', async (t) => {
  const { account, service, byNginx } = await openBehindNginx(t)
  const whole = await byNginx('csv')
  const { etag, 'last-modified': lastModified } = whole.headers as Record<string, string>
  const part = whole.bytes.subarray(10, 20)
  const range = 'bytes=10-19'
  for (const condition of [{}, { 'if-range': etag! }, { 'if-range': lastModified! }]) {
    const answer = await byNginx('csv', { range, ...condition })
    assert.deepEqual([answer.status, String(answer.bytes)], [206, String(part)], JSON.stringify(condition))
    assert.equal(answer.headers['content-range'], `bytes 10-19/${whole.bytes.length}`)
    assert.equal(answer.headers['credits-charged'], '0')
  }
  for (const condition of [{ 'if-range': '"other"' }, { 'if-range': 'Mon, 01 Jan 2001 00:00:00 GMT' }]) {
    const answer = await byNginx('csv', { range, ...condition })
    assert.deepEqual(
      [answer.status, answer.bytes.equals(whole.bytes)],
      [200, true],
      JSON.stringify(condition),
    )
  }
  const statuses: [headers: Record<string, string>, status: number][] = [
    [{ 'if-none-match': etag! }, 304],
    [{ 'if-none-match': '"other"' }, 200],
    [{ 'if-none-match': '"other"', range }, 206],
    [{ 'if-modified-since': lastModified! }, 304],
    [{ 'if-modified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 200],
    [{ 'if-match': etag! }, 200],
    [{ range: 'bytes=99999999-' }, 416],
  ]
  for (const [headers, status] of statuses)
    assert.equal((await byNginx('csv', headers)).status, status, JSON.stringify(headers))
  assert.equal((await readAccountLedger(service, account)).balance, 99)
})

test('a damaged file is built again before nginx sends it, and what cannot be built is refunded', async (t) => {
  const { account, service, folder, byNginx } = await openBehindNginx(t)
  const whole = await byNginx('csv')
  flipBit(join(folder, 'exports', 'places.csv'))
  const again = await byNginx('csv')
  assert.deepEqual([again.status, again.bytes.equals(whole.bytes)], [200, true])
  rmSync(join(folder, 'exports', 'places.csv'))
  flipBit(join(folder, 'features.pack'))
  for (const format of ['csv', 'kml']) assert.equal((await byNginx(format)).status, 503)
  assert.equal((await readAccountLedger(service, account)).balance, 99)
})
