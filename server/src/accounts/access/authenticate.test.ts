import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openAccount } from '../../testing/account.ts'
import { openTestServer, type TestSettings } from '../../testing/test-server.ts'

/** A dataset that does not exist: 404 with a key, 401 without one. */
const DOWNLOAD = '/v1/dataset/nowhere/files/csv'

async function open(t: TestContext, settings: TestSettings['settings'] = {}) {
  const service = await openTestServer(t, { settings })
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'] })
  const status = async (headers: Record<string, string>, query = '') =>
    (await service.request('GET', DOWNLOAD + query, { headers })).status
  return { service, key, status }
}

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

test('a key is taken from its header, or from HTTP Basic as user name or password', async (t) => {
  const { key, status } = await open(t)
  assert.equal(await status({ 'x-api-key': key }), 404)
  assert.equal(await status(basic(key, '')), 404)
  assert.equal(await status(basic(key, 'x')), 404)
  assert.equal(await status(basic('', key)), 404)
  assert.equal(await status(basic('qgis', key)), 404)
  assert.equal(await status(basic('qgis', 'secret')), 401)
  assert.equal(await status({ authorization: 'Basic !!!' }), 401)
  assert.equal(await status({ authorization: `Bearer ${key}` }), 401)
  assert.equal(await status({}), 401)
})

test('a page of another site cannot spend with the key that a browser remembers', async (t) => {
  const { service, key, status } = await open(t)
  for (const site of ['cross-site', 'same-site']) {
    assert.equal(await status({ ...basic(key, ''), 'sec-fetch-site': site }), 403)
    const headers = { ...basic(key, ''), 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }
    for (const path of [
      DOWNLOAD,
      '/v1/dataset/nowhere/archives/1/files/csv',
      '/v1/ogc/collections/nowhere/items',
      '/v1/ogc/collections/nowhere/items/1',
    ]) {
      const refused = await service.request('GET', path, { headers })
      assert.deepEqual([refused.status, refused.body.code], [403, 'origin-refused'], path)
    }
    // A page that knows the key sends it in the header; public pages can be linked to.
    assert.equal(await status({ 'x-api-key': key, 'sec-fetch-site': site }), 404)
    assert.equal((await service.request('GET', '/v1/datasets', { headers })).status, 200)
  }
  for (const site of ['none', 'same-origin']) {
    assert.equal(await status({ ...basic(key, ''), 'sec-fetch-site': site }), 404)
  }
})

test('a key in the address opens nothing unless the operator allows it', async (t) => {
  const closed = await open(t)
  assert.equal(await closed.status({}, `?api_key=${closed.key}`), 401)
  const allowed = await open(t, { keyInUrl: true })
  assert.equal(await allowed.status({}, `?api_key=${allowed.key}`), 404)
  assert.equal(await allowed.status({}, '?api_key=nonsense'), 401)
})

test('a 401 names the header of the key, and makes no browser prompt for a user name', async (t) => {
  const { service } = await open(t)
  const challenge = async (accept: string) =>
    (await service.request('GET', DOWNLOAD, { headers: { accept } })).headers.get('www-authenticate')
  assert.match((await challenge('application/json')) ?? '', /^ApiKey header="X-API-Key"$/)
  assert.match((await challenge('*/*')) ?? '', /^ApiKey/)
  assert.match((await challenge('text/html,application/xhtml+xml')) ?? '', /^ApiKey/)
})

test('a management route never falls back to another credential', async (t) => {
  const { service, key } = await open(t)
  for (const headers of [
    { 'x-api-key': key },
    basic(key, ''),
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: `Token ${key}` },
  ]) {
    const answer = await service.request('GET', '/v1/api-keys/my-keys', { headers })
    assert.equal(answer.status, 401)
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
  }
})
