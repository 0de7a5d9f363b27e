import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

async function platformKey(service: TestServer, ...permissions: string[]) {
  return service.parts.keys.createPlatform(operator, { name: 'Shop', permissions })
}

for (const database of databaseKinds) {
  test(`a platform key with admin administers, and the audit log names it (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { id, secret: key } = await platformKey(service, 'admin')
    const call = (method: string, path: string, body?: unknown) =>
      service.request(method, `/v1/admin/${path}`, { key, body })
    const created = await call('POST', 'organizations', { name: 'Customer' })
    assert.equal(created.status, 201, created.text)
    assert.equal(created.headers.get('cache-control'), 'no-store')
    const organization = `organizations/${created.body.id}`
    assert.equal((await call('PATCH', organization, { addOns: ['GIS_ACCESS'] })).status, 200)
    assert.equal((await call('POST', `${organization}/credits`, { add: 7 })).body.credits.balance, 7)
    assert.equal((await call('POST', `${organization}/suspend`, { reason: 'Unpaid' })).status, 200)
    assert.equal((await call('POST', 'keys', { name: 'Next', permissions: ['admin', 'read'] })).status, 201)
    for (const path of ['organizations', 'users', 'keys', 'events', 'dashboard', 'access-requests']) {
      assert.equal((await call('GET', path)).status, 200, path)
    }
    const events = (await call('GET', 'events')).body.data as { actor: string; action: string }[]
    const own = events.filter(({ actor }) => actor === `key:${id}`).map(({ action }) => action)
    assert.equal(own.length, 5, JSON.stringify(events))
    await service.parts.meter.close()
    const record = (await call('GET', `keys/${id}`)).body
    assert.deepEqual(record.permissions, ['admin'])
    assert.notEqual(record.lastUsedAt, null)
    await service.parts.keys.revoke({ reach: 'any', origin: operator }, id)
    assert.equal((await call('GET', 'organizations')).status, 401)
  })
}

test('no other key opens the administration, and admin opens nothing else', async (t) => {
  const service = await openTestServer(t)
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS', 'GIS_ACCESS'] })
  const admin = await platformKey(service, 'admin')
  const publisher = await platformKey(service, 'read', 'write')
  const path = '/v1/admin/organizations'
  for (const key of [ada.key, publisher.secret]) {
    const refused = await service.request('GET', path, { key })
    assert.deepEqual([refused.status, refused.body.code], [403, 'permission-missing'])
  }
  const status = async (headers: Record<string, string>, query = '') =>
    (await service.request('GET', path + query, { headers })).status
  const basic = `Basic ${Buffer.from(`${admin.secret}:`).toString('base64')}`
  assert.equal(await status({ 'x-api-key': `${admin.secret}x` }), 401)
  assert.equal(await status({}), 401)
  assert.equal(await status({ authorization: basic }), 401)
  assert.equal(await status({}, `?api_key=${admin.secret}`), 401)
  // A token that is sent decides, also beside a key.
  assert.equal(await status({ 'x-api-key': admin.secret, authorization: `Bearer ${ada.token}` }), 403)

  const key = admin.secret
  assert.equal((await service.request('GET', '/v1/dataset/nowhere/files/csv', { key })).status, 404)
  assert.equal((await service.request('PUT', '/v1/dataset/places', { key })).status, 403)
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { key })).status, 401)

  for (const [method, keyPath] of [
    ['POST', '/v1/api-keys/personal'],
    ['POST', `/v1/api-keys/organization/${ada.organizationId}`],
    ['PATCH', `/v1/api-keys/${ada.keyId}`],
  ] as const) {
    const body = { name: 'Admin', permissions: ['admin'] }
    const refused = await service.request(method, keyPath, { token: ada.token, body })
    assert.deepEqual([refused.status, refused.body.errors?.[0].path], [400, '/permissions/0'], keyPath)
  }
  for (const permission of ['admin:places', 'Admin']) {
    await assert.rejects(platformKey(service, permission))
  }
})
