import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { problemSchema } from '@wayleave/contract/records'
import { Value } from 'typebox/value'
import { openTestServer, type TestServer } from '../testing/test-server.ts'

/** Sends bytes as they are and reads the response until the server closes the connection. */
async function sendRaw(service: TestServer, request: string) {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  let received = ''
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1')
  })
  socket.on('error', () => {})
  socket.write(request, 'latin1')
  await once(socket, 'close')
  const [head = '', body = ''] = received.split('\r\n\r\n')
  const lines = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.slice(1).map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { status: Number(lines[0]!.split(' ')[1]), headers, body }
}

/** Checks that a response is a complete problem, and returns its code. */
function codeOf({ status, headers, body }: Awaited<ReturnType<typeof sendRaw>>): string {
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
  const problem = JSON.parse(body)
  assert.deepEqual(Value.Errors(problemSchema, problem), [])
  assert.equal(problem.status, status)
  assert.equal(headers['x-request-id'], problem.requestId)
  assert.ok(problem.type.endsWith(`/problems/${problem.code}`), problem.type)
  return problem.code
}

test('requests that no route takes', async (t) => {
  const service = await openTestServer(t)

  await t.test('Allow names the methods of every route, and OPTIONS works on each', async () => {
    const urls = [...new Set(service.routes.rows.map(({ url }) => url))].filter((url) => url !== '*')
    for (const url of urls) {
      const methods = service.routes.rows.filter((row) => row.url === url).map(({ method }) => method)
      const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ')
      const path = url.replaceAll(/:\w+/g, 'x').replace('*', 'x')
      const options = await service.request('OPTIONS', path)
      assert.deepEqual([options.status, options.headers.get('allow')], [204, allow], url)
      // The body would be 415 if it were looked at.
      const wrong = ['PUT', 'PATCH', 'DELETE', 'POST'].find((method) => !methods.includes(method))
      assert.ok(wrong, url)
      const headers = { 'content-type': 'text/x-unknown' }
      const refused = await service.request(wrong, path, { headers, body: 'x' })
      assert.deepEqual(
        [refused.status, refused.headers.get('allow'), refused.body.code],
        [405, allow, 'method-not-allowed'],
        `${wrong} ${url}`,
      )
    }
  })

  await t.test('a method of a route with a parameter does not appear on a fixed path', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/v1/api-keys/my-keys', 'GET, HEAD, OPTIONS'],
      ['GET', '/v1/api-keys/personal', 'OPTIONS, POST'],
      ['PATCH', '/v1/organization/me', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const refused = await service.request(method, path)
      assert.deepEqual([refused.status, refused.headers.get('allow')], [405, allow], `${method} ${path}`)
    }
  })

  await t.test('methods that HTTP or this service does not know are 405 with Allow', async () => {
    for (const method of ['FOO', 'get', 'PROPFIND', 'TRACE', 'QUERY', 'CONNECT', 'M-SEARCH', 'X!y']) {
      for (const [path, status, allow] of [
        ['/v1/datasets?x=1', 405, 'GET, HEAD, OPTIONS'],
        ['/v1/ogc/collections/places/items', 405, 'GET, HEAD, OPTIONS'],
        ['/v1/dataset/places', 405, 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
        ['/nothing', 404, undefined],
      ] as const) {
        const request = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
        const refused = await sendRaw(service, request)
        const code = status === 405 ? 'method-not-allowed' : 'not-found'
        assert.deepEqual(
          [refused.status, refused.headers['allow'], codeOf(refused)],
          [status, allow, code],
          `${method} ${path}`,
        )
      }
    }
    const whole = await sendRaw(service, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    assert.deepEqual([whole.status, whole.headers['allow']?.includes('PATCH')], [204, true])
  })

  await t.test('what the parser refuses is a whole problem', async () => {
    const big = 'x'.repeat(70_000)
    const post = 'POST /v1/auth/token HTTP/1.1\r\nHost: x\r\n'
    for (const [request, status, code] of [
      ['NO HTTP AT ALL\r\n\r\n', 400, 'malformed-request'],
      ['GET /health HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'malformed-request'],
      ['GET /health HTTP/1.1\r\nBad Header: x\r\n\r\n', 400, 'malformed-request'],
      ['GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed-request'],
      ['GET /v1/dataset/x HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed-request'],
      [`GET /health HTTP/1.1\r\nHost: x\r\nA: ${big}\r\n\r\n`, 431, 'headers-too-large'],
      [`GET /${big} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, 'headers-too-large'],
      [`${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400, 'malformed-request'],
      [`${post}Transfer-Encoding: chunked\r\n\r\n5;${big}\r\n`, 413, 'body-too-large'],
    ] as const) {
      const refused = await sendRaw(service, request)
      assert.deepEqual([refused.status, codeOf(refused)], [status, code], request.slice(0, 60))
    }
  })

  await t.test('an unknown expectation is ignored, and HTTP/1.0 needs no Host', async () => {
    const expecting = 'GET /health HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n'
    assert.equal((await sendRaw(service, expecting)).status, 200)
    assert.equal((await sendRaw(service, 'GET /health HTTP/1.0\r\n\r\n')).status, 200)
  })
})
