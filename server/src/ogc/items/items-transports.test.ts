import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import type { TestSettings } from '../../testing/test-server.ts'
import { openOgc, point } from '../testing/open-ogc.ts'
import { randomPlaces } from '../testing/random-places.ts'

/** The parts that differ between two responses to the same request. */
const VARYING = /"(timeStamp|requestId)":"[^"]*",?/

const same = (text: string) => text.replace(VARYING, '')

interface Got {
  status: number
  headers: Record<string, string>
  text: string
  /** Fastify begins the response head with the request id, the socket transport does not. */
  isFromSocket: boolean
}

/**
 * A service with datasets of places, and one keep-alive connection to it. Anything requested once is in
 * memory.
 */
async function openPlaces(t: TestContext, given: TestSettings = {}) {
  const service = await openOgc(t, given)
  await service.publish('places', randomPlaces(300, 5))
  await service.publish('points', randomPlaces(300, 6, false))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  cleanUp(t, () => agent.destroy())
  const get = async (path: string, headers: Record<string, string> = {}): Promise<Got> => {
    const sent = request(`${service.url}/v1/ogc/collections/${path}`, {
      agent,
      headers: { 'x-api-key': service.key, ...headers },
    }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const text = (await response.setEncoding('utf8').toArray()).join('')
    const isFromSocket = response.rawHeaders[0] === 'x-content-type-options'
    return {
      status: response.statusCode!,
      headers: response.headers as Record<string, string>,
      text,
      isFromSocket,
    }
  }
  return { ...service, getBelow: get }
}

test('a page is the same through the socket transport and through Fastify', async (t) => {
  const { getBelow } = await openPlaces(t)
  const queries = [
    '',
    '?limit=7',
    '?bbox=-60,-40,80,60',
    '?bbox=170,-90,-170,90&limit=5',
    '?limit=3&offset=20',
    '?bbox=-150,-70,150,60&limit=999',
    '?open=true&limit=4',
    '?filter=size%20%3E%202%20AND%20NOT%20open&limit=3',
    '?sortby=-size&limit=300',
    '?sortby=i&filter=size%20IS%20NULL',
    '?sortby=-i&limit=3',
  ]
  for (const table of ['places', 'points']) {
    for (const query of [
      ...queries,
      '?bbox=1,1,1,1',
      '?limit=20000&f=geojson',
      '?bbox=-9,-9,9,9&limit=2&x=',
    ]) {
      const path = `${table}/items${query}`
      await getBelow(path)
      for (const origin of [{}, { origin: 'https://map.example' }] as Record<string, string>[]) {
        let viaSocket = await getBelow(path, origin)
        // A page that takes longer than its time slice is handed over to Fastify; on a busy machine any can.
        for (let i = 0; i < 20 && !viaSocket.isFromSocket; i++) viaSocket = await getBelow(path, origin)
        // A request with `Connection: close` always goes through Fastify.
        const viaFastify = await getBelow(path, { ...origin, connection: 'close' })
        assert.equal(viaFastify.isFromSocket, false)
        assert.equal(viaSocket.isFromSocket, viaSocket.status === 200, path)
        assert.ok(same(viaSocket.text) === same(viaFastify.text), `${path}: ${viaSocket.text.slice(0, 2000)}`)
        const shown = ({ headers, status }: Got) => {
          const { date, connection, 'keep-alive': _, 'x-request-id': id, ratelimit, ...rest } = headers
          assert.match(`${date} ${id} ${ratelimit}`, /^\w{3}, .+ GMT \S+ "key";r=\d+;t=\d+$/)
          assert.ok(connection)
          return { status, ...rest }
        }
        if (viaSocket.status === 200) assert.deepEqual(shown(viaSocket), shown(viaFastify))
      }
    }
  }
})

test('a feature and documents are the same through both transports, with a tag', async (t) => {
  const { getBelow } = await openPlaces(t)
  for (const path of [
    'points/items/7',
    'points/items/7?f=json&crs=http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    'points',
    'points?f=html',
    'points/schema',
    'points/queryables',
    'points/sortables?f=json',
    '../collections',
    '../conformance',
    '../api',
    '../../ogc',
    '../../dataset/points',
  ]) {
    await getBelow(path)
    const viaSocket = await getBelow(path)
    const viaFastify = await getBelow(path, { connection: 'close' })
    assert.deepEqual([viaSocket.isFromSocket, viaFastify.isFromSocket], [true, false], path)
    assert.equal(viaSocket.text, viaFastify.text)
    for (const name of [
      'content-type',
      'etag',
      'vary',
      'cache-control',
      'content-crs',
      'content-security-policy',
    ]) {
      assert.equal(viaSocket.headers[name], viaFastify.headers[name], `${name} of ${path}`)
    }
    for (const connection of ['keep-alive', 'close']) {
      const again = await getBelow(path, { 'if-none-match': viaSocket.headers['etag']!, connection })
      assert.deepEqual([again.status, again.text], [304, ''], path)
      assert.equal(again.headers['etag'], viaSocket.headers['etag'])
    }
  }
})

test('a document is made again when its dataset changes, and the list shows what a key may read', async (t) => {
  const { getBelow, publish, parts } = await openPlaces(t)
  const countOf = async (path: string) => JSON.parse((await getBelow(path)).text).itemCount
  assert.equal(await countOf('points'), 300)
  const before = await getBelow('../../dataset/points')
  await publish('points', randomPlaces(40, 6, false))
  assert.equal(await countOf('points'), 40)
  const after = await getBelow('../../dataset/points', { 'if-none-match': before.headers['etag']! })
  assert.deepEqual([after.status, JSON.parse(after.text).rows], [200, 40])
  const limited = await parts.keys.createPlatform(operator, { name: 'one', permissions: ['read:points'] })
  const namesFor = async (headers: Record<string, string>) => {
    const { collections } = JSON.parse((await getBelow('../collections', headers)).text)
    return collections.map(({ id }: { id: string }) => id)
  }
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await namesFor({}), ['places', 'points'])
    assert.deepEqual(await namesFor({ 'x-api-key': limited.secret }), ['points'])
  }
  const { status } = await getBelow('places', { 'x-api-key': limited.secret })
  assert.equal(status, 403)
})

test('all pages of a reading are sent by the socket transport', async (t) => {
  const { getBelow, url } = await openPlaces(t)
  const seen: number[] = []
  for (let path: string | undefined = 'points/items?limit=40'; path; ) {
    await getBelow(path)
    const { text, isFromSocket } = await getBelow(path)
    assert.ok(isFromSocket)
    const { features, links } = JSON.parse(text)
    seen.push(...features.map(({ properties }: { properties: { i: number } }) => properties.i))
    const next = links.find(({ rel }: { rel: string }) => rel === 'next')
    path = next?.href.slice(`${url}/v1/ogc/collections/`.length)
  }
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    Array.from({ length: 300 }, (_, i) => i),
  )
})

test('pipelined requests get their responses in order, each whole', async (t) => {
  const { getBelow, url, key } = await openPlaces(t)
  const paths = [
    'points/items?limit=300',
    'points',
    'points/items?limit=2',
    'nothing/items',
    'points/items?limit=1',
  ]
  const alone = []
  for (const path of paths) alone.push((await getBelow(path)).text)
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = (path: string, more = '') =>
    `GET /v1/ogc/collections/${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Api-Key: ${key}\r\n${more}\r\n`
  socket.write(paths.map((path) => head(path)).join('') + head('points', 'Connection: close\r\n'))
  const text = (await socket.setEncoding('latin1').toArray()).join('')
  const bodies = text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .map((response) => Buffer.from(response.slice(response.indexOf('\r\n\r\n') + 4), 'latin1').toString())
  for (const [i, path] of paths.entries()) assert.ok(same(bodies[i]!) === same(alone[i]!), path)
})

test('the socket transport refuses what a key may not read', async (t) => {
  const service = await openPlaces(t)
  const { getBelow } = service
  const without = await openAccount(service, 'without@example.org', { addOns: ['API_ACCESS'] })
  const other = await openAccount(service, 'other@example.org', {
    addOns: ['GIS_ACCESS'],
    permissions: ['read:places'],
  })
  const path = 'points/items?limit=1'
  const statusFor = async (key: string, table = path) => (await getBelow(table, { 'x-api-key': key })).status
  for (let i = 0; i < 3; i++) {
    assert.equal((await getBelow(path)).status, 200)
    assert.equal(await statusFor(without.key), 403)
    assert.equal(await statusFor(other.key), 403)
    assert.equal(await statusFor(other.key, 'places/items?limit=1'), 200)
    assert.equal(await statusFor('svc_live_00000000000000000000000000000000'), 401)
    assert.equal(await statusFor(''), 401)
  }
  const basic = Buffer.from(`${service.key}:`).toString('base64')
  const named = await getBelow(path, { 'x-api-key': '', authorization: `Basic ${basic}` })
  assert.deepEqual([named.status, named.isFromSocket], [200, true])
})

test('a key that was revoked, and a dataset that was withdrawn, are gone on the open connection', async (t) => {
  const service = await openPlaces(t)
  const { getBelow } = service
  const { key, keyId, token } = await openAccount(service, 'holder@example.org', { addOns: ['GIS_ACCESS'] })
  const path = 'points/items?limit=1'
  for (let i = 0; i < 2; i++) assert.equal((await getBelow(path, { 'x-api-key': key })).status, 200)
  const revoked = await service.request('DELETE', `/v1/api-keys/${keyId}`, { token })
  assert.ok(revoked.status < 300, revoked.text)
  assert.equal((await getBelow(path, { 'x-api-key': key })).status, 401)
  assert.equal((await getBelow(path)).status, 200)
  await service.parts.publishing.unpublish('points', operator)
  assert.equal((await getBelow(path)).status, 404)
})

test('pages of the socket transport count: rate limit, daily features, usage and log', async (t) => {
  const service = await openPlaces(t, { settings: { keyRate: 60, keyBurst: 5, dailyFeatures: 1000 } })
  const { getBelow, logLines } = service
  const statuses = []
  const fromSocket = []
  for (let i = 0; i < 8; i++) {
    const { status, isFromSocket } = await getBelow('points/items?limit=100')
    statuses.push(status)
    fromSocket.push(isFromSocket)
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429])
  assert.deepEqual(fromSocket.slice(1), [true, true, true, true, false, false, false])
  const lines = logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  assert.equal(lines.length, 8)
  const { requestId, time, ms, ...first } = lines[1]
  const { requestId: _, time: __, ms: ___, ...viaFastify } = lines[0]
  assert.deepEqual(first, viaFastify)
  assert.match(`${requestId} ${time} ${ms}`, /^[\w-]{36} \S+Z [\d.]+$/)
  const metrics = await service.request('GET', '/metrics')
  const route = 'route="/v1/ogc/collections/:table/items"'
  assert.ok(metrics.text.includes(`wayleave_http_requests_total{method="GET",${route},status="200"} 5\n`))
  assert.ok(metrics.text.includes(`wayleave_http_request_duration_seconds_count{${route}} 8\n`))
})

test('features that a page did not need are returned to the daily limit', async (t) => {
  const { getBelow, publish } = await openPlaces(t, { settings: { dailyFeatures: 12 } })
  await publish('few', [point(1, 1, { i: 1 }), point(2, 2, { i: 2 })])
  const returned = []
  for (let i = 0; i < 7; i++) returned.push((await getBelow('few/items?limit=10')).status)
  assert.deepEqual(returned, [200, 200, 200, 200, 200, 200, 429])
})

test('a page that the client has already is 304 through both transports', async (t) => {
  const { getBelow } = await openPlaces(t)
  const path = 'points/items?limit=5'
  await getBelow(path)
  const { headers } = await getBelow(path)
  const condition = { 'if-none-match': headers['etag']! }
  const viaSocket = await getBelow(path, condition)
  const viaFastify = await getBelow(path, { ...condition, connection: 'close' })
  assert.deepEqual([viaSocket.isFromSocket, viaFastify.isFromSocket], [true, false])
  for (const { status, text, headers: sent } of [viaSocket, viaFastify]) {
    assert.deepEqual(
      [status, text, sent['etag'], sent['content-length']],
      [304, '', headers['etag'], undefined],
    )
  }
  // The connection is still usable.
  assert.equal((await getBelow(path)).status, 200)
})

test('the setting turns the socket transport off', async (t) => {
  const { getBelow } = await openPlaces(t, { settings: { socketTransport: false } })
  for (let i = 0; i < 3; i++) {
    const { status, isFromSocket, text } = await getBelow('points/items?limit=5')
    assert.deepEqual([status, isFromSocket, JSON.parse(text).numberReturned], [200, false, 5])
  }
})

test('a problem carries the headers that were set before it', async (t) => {
  const { getBelow } = await openPlaces(t)
  await getBelow('points/items?limit=5')
  const { status, headers } = await getBelow('points/items?limit=0')
  assert.equal(status, 400)
  assert.match(headers['ratelimit']!, /^"key";r=\d+;t=\d+$/)
})

test('a request with several Host headers, or a wrong one, is 400 in both transports', async (t) => {
  for (const socketTransport of [true, false]) {
    const service = await openOgc(t, { settings: { socketTransport } })
    await service.publish('points', randomPlaces(3, 6, false))
    const path = '/v1/ogc/collections/points/items?limit=1'
    const statusOf = async (hosts: string[]) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      cleanUp(t, () => socket.destroy())
      const lines = [`GET ${path} HTTP/1.1`, ...hosts, `X-API-Key: ${service.key}`, '', '']
      socket.write(lines.join('\r\n'))
      const [head] = (await once(socket, 'data')) as [Buffer]
      return Number(head.subarray(9, 12).toString())
    }
    // The first request puts what the page needs into memory.
    for (const host of ['127.0.0.1', '127.0.0.1:80', '[::1]:80', 'data.example.org', ''])
      assert.equal(await statusOf([`Host: ${host}`]), 200, host)
    const wrong = [['a', 'b'], ['a', 'a'], ['a b'], ['a, b'], ['a/b'], ['user@a'], ['a:b'], ['[::1'], []]
    for (const hosts of wrong) {
      const lines = hosts.map((host, i) => `${i === 0 ? 'Host' : 'hOST'}: ${host}`)
      assert.equal(await statusOf(lines), 400, lines.join())
    }
  }
})

test('lengths of a body that contradict each other are 400', async (t) => {
  const service = await openOgc(t)
  for (const lines of [
    ['Content-Length: 2', 'Content-Length: 2'],
    ['Content-Length: 2', 'Content-Length: 3'],
    ['Content-Length: 2, 2'],
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: identity'],
  ]) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    cleanUp(t, () => socket.destroy())
    socket.write(['POST /v1/auth/magic-link HTTP/1.1', 'Host: a', ...lines, '', '{}'].join('\r\n'))
    const [head] = (await once(socket, 'data')) as [Buffer]
    assert.equal(head.subarray(9, 12).toString(), '400', lines.join())
  }
})
