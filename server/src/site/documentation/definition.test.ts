import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from '../../testing/test-server.ts'

test('the API definition names the address it was asked at, has a tag, and counts against the address', async (t) => {
  const service = await openTestServer(t, { settings: { addressRate: 4 } })
  const ask = (headers: Record<string, string> = {}) =>
    service.request('GET', '/v1/openapi.json', { headers })
  const first = await ask()
  assert.equal(first.status, 200)
  assert.match(first.headers.get('content-type')!, /^application\/json/)
  assert.deepEqual(first.body.servers, [{ url: service.url }])
  assert.ok(first.body.paths['/v1/datasets'].get)
  // A hook that runs after the routes were registered adds it.
  const { parameters } = first.body.paths['/v1/admin/keys'].post
  assert.ok(parameters.some(({ name }: { name: string }) => name === 'idempotency-key'))
  assert.match(first.headers.get('ratelimit')!, /address/)

  const etag = first.headers.get('etag')!
  const again = await ask({ 'if-none-match': etag })
  assert.deepEqual([again.status, again.text], [304, ''])
  const other = await fetch(service.url.replace('127.0.0.1', 'localhost').concat('/v1/openapi.json'))
  assert.notEqual(other.headers.get('etag'), etag)
  await ask()
  assert.equal((await ask()).status, 429)
})

test('the definition of the OGC API names every method of its paths', async (t) => {
  const service = await openTestServer(t)
  const { body } = await service.request('GET', '/v1/ogc/api?f=json')
  const paths = Object.entries<Record<string, object>>(body.paths)
  assert.ok(paths.length > 15)
  // The routes and the definition name the parameters of paths differently, and one route has a fixed tile matrix set.
  const shape = (path: string) =>
    path.replaceAll(/\{\w+\}|:\w+/g, '*').replace('/tiles/WebMercatorQuad/', '/tiles/*/')
  for (const [path, operations] of paths) {
    const url = shape(`/v1/ogc${path === '/' ? '' : path}`)
    const existing = service.routes.rows
      .filter((row) => shape(row.url) === url && row.method !== 'HEAD' && row.method !== 'OPTIONS')
      .map(({ method }) => method.toLowerCase())
    assert.deepEqual(Object.keys(operations).sort(), existing.sort(), url)
  }
  const { schema } =
    body.paths['/collections/{collectionId}/search'].post.requestBody.content['application/json']
  assert.equal(schema.$ref, '#/components/schemas/Search')
  // The service rejects integers that JavaScript cannot represent exactly.
  const [, integer] = body.components.schemas.Search.properties.ids.items.oneOf
  assert.deepEqual([integer.minimum, integer.maximum], [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
})
