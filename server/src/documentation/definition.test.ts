import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from '../testing/test-server.ts'

test('the API definition names the address it was asked at, has a tag, and counts against the address', async (t) => {
  const service = await openTestServer(t, { settings: { addressRate: 4 } })
  const ask = (headers: Record<string, string> = {}) =>
    service.request('GET', '/v1/openapi.json', { headers })
  const first = await ask()
  assert.equal(first.status, 200)
  assert.match(first.headers.get('content-type')!, /^application\/json/)
  assert.deepEqual(first.body.servers, [{ url: service.url }])
  assert.ok(first.body.paths['/v1/datasets'].get)
  assert.match(first.headers.get('ratelimit')!, /address/)

  const etag = first.headers.get('etag')!
  const again = await ask({ 'if-none-match': etag })
  assert.deepEqual([again.status, again.text], [304, ''])
  const other = await fetch(service.url.replace('127.0.0.1', 'localhost').concat('/v1/openapi.json'))
  assert.notEqual(other.headers.get('etag'), etag)
  await ask()
  assert.equal((await ask()).status, 429)
})
