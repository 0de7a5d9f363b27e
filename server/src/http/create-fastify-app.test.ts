import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Problem } from '../base/problem.ts'
import { type Config, readConfig } from '../base/settings/config.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { databaseKinds, openTestServer } from '../testing/test-server.ts'
import { BaseUrl } from './base-url.ts'
import { TrustedProxies } from './caller.ts'
import { createFastifyApp } from './create-fastify-app.ts'
import type { App } from './fastify-app.ts'
import { LONG_BODY_LIMIT } from './json-bodies.ts'
import { makeLogger } from './observability/logger.ts'
import { Metrics } from './observability/metrics.ts'
import { Overload } from './observability/overload.ts'

async function openFrame(t: TestContext, given: Partial<Config> = {}, addRoutes?: (app: App) => void) {
  const config = { ...readConfig({ environment: {}, file: null }), ...given }
  const lines: string[] = []
  const overload = new Overload(1000)
  const { app, routes } = await createFastifyApp({
    config,
    log: makeLogger('debug', (line) => lines.push(line)),
    baseUrl: new BaseUrl(config.baseUrl),
    metrics: new Metrics(),
    proxies: new TrustedProxies(config.trustedProxies),
    overload,
  })
  app.post('/things', {
    schema: {
      body: Type.Object(
        { name: Type.String(), count: Type.Optional(Type.Integer()) },
        { additionalProperties: false },
      ),
    },
    handler: (request) => request.body,
  })
  app.get('/things/:id', {
    schema: {
      querystring: Type.Object(
        { size: Type.Optional(Type.Integer({ minimum: 1 })) },
        { additionalProperties: false },
      ),
    },
    handler: (request) => ({ ip: request.ip, size: request.query.size }),
  })
  app.get('/broken', () => {
    throw new Error('password hunter2 at db-7')
  })
  app.get('/left', async (_request, reply) => {
    await once(reply.raw, 'close')
    throw new Error('aborted')
  })
  app.get('/poor', () => {
    throw new Problem('credits-exhausted')
  })
  addRoutes?.(app)
  await app.ready()
  cleanUp(t, () => app.close())
  return { app, routes, lines, overload }
}

for (const database of databaseKinds) {
  test(`the service is healthy and ready on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    assert.deepEqual((await service.request('GET', '/health')).body, { status: 'ok' })
    assert.deepEqual((await service.request('GET', '/ready')).body, { status: 'ready' })
  })
}

test('an unknown route is a 404 problem with a request id', async (t) => {
  const { app } = await openFrame(t)
  const answer = await app.inject('/nowhere?token=x')
  assert.equal(answer.statusCode, 404)
  assert.match(answer.headers['content-type'] as string, /^application\/problem\+json/)
  const body = answer.json()
  assert.deepEqual(Object.keys(body), ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'])
  assert.equal(body.code, 'not-found')
  assert.equal(body.instance, '/nowhere')
  assert.equal(body.requestId, answer.headers['x-request-id'])
  assert.match(body.type, /\/problems\/not-found$/)
})

test('a browser is shown a problem as a page; programs, and all of /v1, get it as it is', async (t) => {
  const { app } = await openFrame(t)
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const page = await app.inject({ url: '/nowhere/<i>', headers: { accept } })
  assert.equal(page.statusCode, 404)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  assert.match(page.body, /<h1>Not found<\/h1>\s*<p>There is nothing at this address\.<\/p>/)
  assert.ok(page.body.includes(String(page.headers['x-request-id'])))
  const wrong = await app.inject({ url: '/things/1?%3Ci%3E=1', headers: { accept } })
  assert.equal(wrong.statusCode, 400)
  assert.ok(wrong.body.includes('&lt;i&gt;') && !wrong.body.includes('<i>'))
  // What is wrong stands beside the parameter.
  assert.match(
    wrong.body,
    /<dt><code>&lt;i&gt;<\/code><\/dt><dd><code>1<\/code> <span class="wrong">is not a known/,
  )
  const broken = await app.inject({ url: '/broken', headers: { accept } })
  assert.ok(!broken.body.includes('hunter2'))
  for (const asked of [
    { url: '/v1/nowhere', headers: { accept } },
    { url: '/nowhere', headers: { accept: '*/*' } },
    { url: '/nowhere', headers: { accept: 'application/json' } },
    { url: '/nowhere', method: 'POST', headers: { accept } },
  ] as const) {
    const { headers } = await app.inject(asked)
    assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8', asked.url)
  }
})

test('a wrong method is 405 with Allow, and OPTIONS tells the methods', async (t) => {
  const { app } = await openFrame(t)
  const wrong = await app.inject({ method: 'DELETE', url: '/things/7' })
  assert.equal(wrong.statusCode, 405)
  assert.equal(wrong.headers['allow'], 'GET, HEAD, OPTIONS')
  const options = await app.inject({ method: 'OPTIONS', url: '/things' })
  assert.equal(options.statusCode, 204)
  assert.equal(options.headers['allow'], 'OPTIONS, POST')
})

test('an oversized body is 413, broken JSON 400, another content type 415', async (t) => {
  const { app } = await openFrame(t)
  const post = (payload: string, type = 'application/json') =>
    app.inject({ method: 'POST', url: '/things', payload, headers: { 'content-type': type } })
  assert.equal((await post(JSON.stringify({ name: 'x'.repeat(300_000) }))).json().code, 'body-too-large')
  assert.equal((await post('{"name":')).json().code, 'malformed-json')
  assert.equal((await post('')).json().code, 'malformed-json')
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data']) {
    const answer = await post('name=x', type)
    assert.deepEqual([answer.statusCode, answer.json().code], [415, 'unsupported-media-type'])
  }
})

test('a body has the size and the number of values that its route needs, and is not parsed beyond them', async (t) => {
  const { app } = await openFrame(t, {}, (frame) => {
    frame.post('/long', {
      bodyLimit: LONG_BODY_LIMIT,
      handler: (request) => Object.keys(request.body as object),
    })
  })
  const post = async (payload: string, url = '/things') => {
    const answer = await app.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'content-type': 'application/json' },
    })
    return answer.statusCode === 200 ? 200 : answer.json().code
  }
  const named = (length: number) => JSON.stringify({ name: 'x'.repeat(length) })
  assert.equal(await post(named(60_000)), 200)
  assert.equal(await post(named(70_000)), 'body-too-large')
  assert.equal(await post(named(250_000), '/long'), 200)
  // Without an end, so that it is malformed once it is parsed.
  const members = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}`
  assert.equal(await post(members(1000)), 'malformed-json')
  assert.equal(await post(members(1100)), 'invalid-input')
  assert.equal(await post(members(4000), '/long'), 'malformed-json')
  assert.equal(await post(members(4200), '/long'), 'invalid-input')
  assert.equal(await post('['.repeat(32)), 'malformed-json')
  assert.equal(await post('['.repeat(33)), 'invalid-input')
  assert.equal(await post(JSON.stringify({ name: '[,'.repeat(20_000) })), 200)
})

test('too many parameters are 400 on every route, also on one that is none, and the log has the path', async (t) => {
  const { app, lines } = await openFrame(t)
  const query = Array.from({ length: 9000 }, (_, i) => `a${i}=1`).join('&')
  for (const path of ['/things/1', '/nothing']) {
    const answer = await app.inject(`${path}?${query}`)
    assert.deepEqual([answer.statusCode, answer.json().errors[0].path], [400, 'query'], path)
    assert.equal(answer.json().instance, path)
  }
  assert.ok(lines.every((line) => line.length < 1000))
  assert.equal((await app.inject(`/things/1?size=1${'&'.repeat(5000)}`)).statusCode, 200)
})

test('invalid input is 400 and names every field', async (t) => {
  const { app } = await openFrame(t)
  const answer = await app.inject({ method: 'POST', url: '/things', payload: { count: '3', colour: 'red' } })
  assert.equal(answer.statusCode, 400)
  const paths = (answer.json().errors as { path: string }[]).map((error) => error.path).sort()
  assert.deepEqual(paths, ['/colour', '/count', '/name'])
  const query = await app.inject('/things/7?size=0&hue=1')
  assert.deepEqual((query.json().errors as { path: string }[]).map((error) => error.path).sort(), [
    'hue',
    'size',
  ])
  assert.equal((await app.inject('/things/7?size=3')).json().size, 3)
})

test('an error of ours is 500 without its message, and the log has it under the request id', async (t) => {
  const { app, lines } = await openFrame(t)
  const answer = await app.inject('/broken')
  assert.equal(answer.statusCode, 500)
  assert.doesNotMatch(answer.body, /hunter2|db-7/)
  const line = lines.find((text) => text.includes('hunter2'))
  assert.equal(JSON.parse(line!).requestId, answer.json().requestId)
})

test('work that fails because its caller has left is not an error of the server', async (t) => {
  const { app, lines } = await openFrame(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const asked = once(app.server, 'request')
  socket.write('GET /left HTTP/1.1\r\nHost: x\r\n\r\n')
  await asked
  socket.destroy()
  while (!lines.some((line) => line.includes('aborted'))) await sleep(5)
  const line = JSON.parse(lines.find((line) => line.includes('aborted'))!)
  assert.deepEqual([line.level, line.msg], [30, 'The client disconnected before the response.'])
})

test('402 and 403 name the contact where one is set', async (t) => {
  const { app } = await openFrame(t, { contactUrl: 'https://example.org/buy' })
  assert.equal((await app.inject('/poor')).json().contact, 'https://example.org/buy')
})

test('a forwarded address and request id are believed from a trusted proxy alone', async (t) => {
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'abc-1' }
  const plain = await openFrame(t)
  const untrusted = await plain.app.inject({ url: '/things/1', headers })
  assert.equal(untrusted.json().ip, '127.0.0.1')
  assert.notEqual(untrusted.headers['x-request-id'], 'abc-1')
  const proxied = await openFrame(t, { trustedProxies: ['127.0.0.0/8'] })
  const trusted = await proxied.app.inject({ url: '/things/1', headers })
  assert.equal(trusted.json().ip, '203.0.113.9')
  assert.equal(trusted.headers['x-request-id'], 'abc-1')
  const forged = await proxied.app.inject({ url: '/things/1', headers: { 'x-request-id': 'a\tb"}' } })
  assert.match(forged.headers['x-request-id'] as string, /^[0-9a-f-]{36}$/)
})

test('any origin may read data; sign-in tells no origin anything', async (t) => {
  const { app } = await openFrame(t)
  const headers = {
    origin: 'https://map.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'x-api-key',
  }
  const preflight = await app.inject({ method: 'OPTIONS', url: '/things/1', headers })
  assert.equal(preflight.statusCode, 204)
  assert.equal(preflight.headers['access-control-allow-origin'], '*')
  assert.equal(preflight.headers['access-control-allow-headers'], 'x-api-key')
  assert.equal(preflight.headers['access-control-allow-credentials'], undefined)
  const auth = await app.inject({ method: 'OPTIONS', url: '/v1/auth/token', headers })
  assert.equal(auth.headers['access-control-allow-origin'], undefined)
})

test('a stopping node responds 503 and asks for the connection to be closed', async (t) => {
  const { app, overload } = await openFrame(t)
  overload.stop()
  const answer = await app.inject('/things/1')
  assert.equal(answer.statusCode, 503)
  assert.equal(answer.json().code, 'shutting-down')
  assert.ok(answer.headers['retry-after'])
})

test('a long filter fits in the address; a longer one gets 431 with the limit', async (t) => {
  const service = await openTestServer(t)
  const long = await service.request('GET', `/v1/datasets?x=${'a'.repeat(60_000)}`)
  assert.equal(long.status, 400)
  assert.match(long.text, /x: is not a known/)
  const longer = await service.request('GET', `/v1/datasets?x=${'a'.repeat(70_000)}`)
  assert.deepEqual([longer.status, longer.body.code], [431, 'headers-too-large'])
  assert.match(longer.body.detail, /64 KB/)
})

test('what is not HTTP at all gets a 400 problem, and the server lives on', async (t) => {
  const service = await openTestServer(t)
  const { port } = new URL(service.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET / HTTP/9.9\r\n\r\n')
  const [data] = (await once(socket, 'data')) as [Buffer]
  assert.match(data.toString(), /^HTTP\/1\.1 400 /)
  assert.match(data.toString(), /application\/problem\+json/)
  socket.destroy()
  assert.equal((await service.request('GET', '/health')).status, 200)
})

test('metrics are for loopback or the token, and count by route pattern', async (t) => {
  const service = await openTestServer(t, { settings: { metricsToken: 'long-metrics-token' } })
  await service.request('GET', '/health')
  const local = await service.request('GET', '/metrics')
  assert.match(local.text, /wayleave_http_requests_total\{method="GET",route="\/health",status="200"\} 1/)
  const proxied = { 'x-forwarded-for': '203.0.113.9' }
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via']) {
    const headers = { [name]: '203.0.113.9' }
    assert.equal((await service.request('GET', '/metrics', { headers })).status, 404, name)
  }
  const wrong = { ...proxied, authorization: 'Bearer wrong-metrics-tokn' }
  assert.equal((await service.request('GET', '/metrics', { headers: wrong })).status, 404)
  const right = { ...proxied, authorization: 'Bearer long-metrics-token' }
  assert.equal((await service.request('GET', '/metrics', { headers: right })).status, 200)
})

test('each request is one line of the log; a secret in its path is not, and routine checks are for debugging', async (t) => {
  const { app, lines } = await openFrame(t)
  const secret = 'svc_live_0123456789ABCDEFGHIJKLMNOPQRSTUV'
  await app.inject({ url: `/things/${secret}?api_key=${secret}` })
  const line = JSON.parse(lines.at(-1)!)
  assert.deepEqual(
    [line.level, line.method, line.path, line.status, line.address, line.msg],
    [30, 'GET', '/things/[redacted]', 400, '127.0.0.1', 'request'],
  )
  assert.ok(!lines.join('').includes(secret))
  app.log.level = 'info'
  const before = lines.length
  await app.inject('/things/1')
  assert.equal(lines.length, before + 1)
})
