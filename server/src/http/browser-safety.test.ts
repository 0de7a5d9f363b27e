import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { openAccount } from '../testing/account.ts'
import { points, publishText } from '../testing/publish.ts'
import { askForLink } from '../testing/sign-in.ts'
import { openTestServer } from '../testing/test-server.ts'
import { BaseUrl } from './base-url.ts'

test('over HTTPS every response says so to browsers, and the cookie is one that HTTP cannot plant', async (t) => {
  const service = await openTestServer(t, { settings: { baseUrl: 'https://data.example.org' } })
  await publishText(service, 'places', 'places.geojson', points(3))
  const { key } = await openAccount(service, 'bob@example.org', { addOns: ['GIS_ACCESS'] })
  for (const path of ['/', '/v1/datasets', '/v1/ogc', '/health', '/nothing']) {
    const { headers } = await service.request('GET', path)
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path)
  }
  for (let i = 0; i < 2; i++) {
    const { headers } = await service.request('GET', '/v1/ogc/collections/places/items', { key })
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000')
  }
  const { token } = await askForLink(service, 'ada@example.org')
  const entry = await service.request('POST', '/v1/auth/token', { body: { token, cookie: true } })
  const [cookie] = entry.headers.getSetCookie()
  assert.match(cookie!, /^__Secure-\w+=.*HttpOnly; SameSite=Strict; Secure$/)
  const refreshed = await service.request('POST', '/v1/auth/refresh', {
    body: { cookie: true },
    headers: { cookie: cookie!.split(';')[0]! },
  })
  assert.equal(refreshed.status, 200)
})

test('pages are isolated from other windows, and the metrics from other origins', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(3))
  const { key } = await openAccount(service, 'bob@example.org', { addOns: ['GIS_ACCESS'] })
  for (const path of ['/docs', '/v1/ogc?f=html', '/v1/ogc/collections/places/items?f=html']) {
    const { headers } = await service.request('GET', path, { key, headers: { accept: 'text/html' } })
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path)
    assert.match(headers.get('permissions-policy')!, /geolocation=\(\)/, path)
    assert.equal(headers.get('strict-transport-security'), null)
  }
  const headers = { origin: 'https://other.example' }
  assert.equal(
    (await service.request('GET', '/metrics', { headers })).headers.get('access-control-allow-origin'),
    null,
  )
  assert.equal(
    (await service.request('GET', '/v1/datasets', { headers })).headers.get('access-control-allow-origin'),
    '*',
  )
})

test('without a base URL no response repeats a Host header that is not this machine’s', () => {
  const baseUrl = new BaseUrl(null)
  const of = (host: string) => baseUrl.of({ host, protocol: 'http' })
  baseUrl.listening('127.0.0.1', 8080)
  assert.equal(of('evil.example'), 'http://127.0.0.1:8080')
  assert.equal(of('127.0.0.1.evil.example:8080'), 'http://127.0.0.1:8080')
  assert.equal(of('localhost:9090'), 'http://localhost:9090')
  assert.equal(of(`${hostname()}:8080`), 'http://127.0.0.1:8080')
  baseUrl.listening('0.0.0.0', 8080)
  assert.equal(of(`${hostname()}:8080`), `http://${hostname()}:8080`)
  assert.equal(of(`${hostname()}:81`), 'http://127.0.0.1:8080')
  assert.equal(of('evil.example:8080'), 'http://127.0.0.1:8080')
  const behindProxy = new BaseUrl(null, true)
  assert.equal(behindProxy.of({ host: 'data.example.org', protocol: 'https' }), 'https://data.example.org')
})
