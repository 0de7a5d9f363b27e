import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { redactSecrets } from '../base/redact.ts'
import { type Config, readConfig } from '../base/settings/config.ts'
import { cleanUp } from '../testing/cleanup.ts'
import { BaseUrl } from './base-url.ts'
import { TrustedProxies } from './caller.ts'
import { createFastifyApp } from './create-fastify-app.ts'
import { makeLogger } from './observability/logger.ts'
import { Metrics } from './observability/metrics.ts'
import { Overload } from './observability/overload.ts'

async function openFrame(
  t: TestContext,
  given: Partial<Config> = {},
  bodyDeadline?: number,
  headDeadline?: number,
) {
  const config = { ...readConfig({ environment: {}, file: null }), ...given }
  const lines: string[] = []
  const baseUrl = new BaseUrl(config.baseUrl, config.trustedProxies.length > 0)
  const { app } = await createFastifyApp({
    config,
    log: makeLogger('debug', (line) => lines.push(line)),
    baseUrl,
    metrics: new Metrics(),
    proxies: new TrustedProxies(config.trustedProxies),
    overload: new Overload(60_000),
    bodyDeadline,
  })
  app.get('/things/:id', () => ({}))
  app.get('/address', (request) => ({ url: baseUrl.of(request) }))
  app.post('/things', {
    schema: { body: Type.Object({ name: Type.String() }, { additionalProperties: false }) },
    handler: (request) => request.body,
  })
  app.get('/slow', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-length': '1000' })
    reply.raw.write('begun')
  })
  app.post('/v1/auth/token', () => ({}))
  if (headDeadline !== undefined) {
    Object.assign(app.server, { headersTimeout: headDeadline, connectionsCheckingInterval: headDeadline })
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  cleanUp(t, () => {
    app.server.closeAllConnections()
    return app.close()
  })
  const { port } = app.server.address() as { port: number }
  return { app, lines, port }
}

test('a path segment too long for any id is 404, as every segment that cannot be one', async (t) => {
  const { app } = await openFrame(t)
  const answer = await app.inject(`/things/${'a'.repeat(300)}`)
  assert.deepEqual([answer.statusCode, answer.json().code], [404, 'not-found'])
})

test('a wrong method is 405 however the address is written', async (t) => {
  const { app } = await openFrame(t)
  for (const url of ['/address', '/address/', '/%61ddress', '/things/%2f', '/address?x=1']) {
    const answer = await app.inject({ method: 'DELETE', url })
    assert.deepEqual([answer.statusCode, answer.headers['allow']], [405, 'GET, HEAD, OPTIONS'], url)
  }
  assert.equal((await app.inject({ method: 'DELETE', url: '/%' })).statusCode, 404)
})

test('sign-in tells another origin nothing, however its address is written', async (t) => {
  const { app } = await openFrame(t)
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
  for (const url of ['/v1/auth/token', '/v1/%61uth/token', '/%76%31/auth/token/']) {
    for (const method of ['OPTIONS', 'POST'] as const) {
      const answer = await app.inject({ method, url, headers })
      assert.equal(answer.headers['access-control-allow-origin'], undefined, `${method} ${url}`)
    }
  }
})

test('a body with a thousand errors gets a short response', async (t) => {
  const { app } = await openFrame(t)
  const payload = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field${i}`, 1]))
  const answer = await app.inject({ method: 'POST', url: '/things', payload })
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.json().errors.length, 20)
})

test('a body that does not arrive in time is cut off', { timeout: 120_000 }, async (t) => {
  const { port } = await openFrame(t, {}, 50)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST /things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  socket.resume()
  await once(socket, 'close')
})

test('a refused connection is closed even if the client neither sends nor closes', {
  timeout: 120_000,
}, async (t) => {
  const { app, port } = await openFrame(t, {}, undefined, 100)
  const countConnections = () =>
    new Promise<number>((resolve, reject) =>
      app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  for (const [request, status] of [
    ['', 408],
    ['GET / HTTP/1.1\r\nHost:', 408],
    ['NO HTTP AT ALL\r\n\r\n', 400],
  ] as const) {
    // With `allowHalfOpen` the client keeps its side open after the server has ended its own.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    cleanUp(t, () => socket.destroy())
    let received = ''
    socket.on('data', (data: Buffer) => {
      received += data
    })
    socket.write(request)
    await once(socket, 'end')
    assert.match(received, new RegExp(`^HTTP/1.1 ${status} `))
    while ((await countConnections()) > 0) await sleep(50)
  }
})

test('bytes that are not HTTP do not corrupt a response in progress', { timeout: 120_000 }, async (t) => {
  const { port } = await openFrame(t)
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', (data: Buffer) => {
    received += data
    if (received.endsWith('begun')) socket.write('NO HTTP AT ALL\r\n\r\n')
  })
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'close')
  assert.ok(received.endsWith('begun'), received)
})

test('a request id is accepted from a trusted peer only', async (t) => {
  const { app } = await openFrame(t, { trustedProxies: ['10.1.0.0/16', 'fd00::/8'] })
  const idFrom = async (remoteAddress: string) =>
    (await app.inject({ url: '/address', remoteAddress, headers: { 'x-request-id': 'given' } })).headers[
      'x-request-id'
    ]
  assert.equal(await idFrom('10.1.2.3'), 'given')
  assert.equal(await idFrom('::ffff:10.1.2.3'), 'given')
  assert.equal(await idFrom('fd00::7'), 'given')
  assert.notEqual(await idFrom('10.2.0.1'), 'given')
  assert.notEqual(await idFrom('2001:db8::1'), 'given')
})

test('what a proxy passes on breaks neither the log nor the links', async (t) => {
  const { app, lines } = await openFrame(t, { trustedProxies: ['127.0.0.0/8'] })
  const forwarded = 'x","status":200,"forged":"'
  const answer = await app.inject({
    url: '/address',
    headers: { 'x-forwarded-for': forwarded, 'x-forwarded-proto': 'javascript', host: 'maps.example' },
  })
  assert.equal(answer.json().url, 'http://maps.example')
  assert.equal(JSON.parse(lines.at(-1)!).forged, undefined)
})

test('a long line is searched for secrets in one pass', () => {
  // If every "eyJ" started a search to the end of the line (quadratic time), this would take minutes.
  const line = 'eyJ-'.repeat(100_000)
  const began = performance.now()
  assert.equal(redactSecrets(line), line)
  assert.ok(performance.now() - began < 60_000)
})

test('a body that signs in is small', async (t) => {
  const { app } = await openFrame(t)
  const send = (url: string, length: number) =>
    app.inject({ method: 'POST', url, payload: { name: 'a'.repeat(length) } })
  assert.equal((await send('/v1/auth/token', 10_000)).statusCode, 200)
  assert.equal((await send('/v1/auth/token', 20_000)).statusCode, 413)
  assert.equal((await send('/things', 20_000)).statusCode, 200)
})
