import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import { operator } from '../../base/events/events.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('a test key gets metadata and samples only, and costs nothing', async (t) => {
  const service = await openTestServer(t)
  for (const visibility of ['public', 'open', 'private'] as const) {
    const description = { visibility, credits: 3 }
    await publishText(service, `of_${visibility}`, 'a.geojson', points(30), { description })
  }
  const ada = await openAccount(service, 'ada@example.org', { credits: 20, addOns: [...ADD_ONS] })
  const { organizationId, token } = ada
  await service.parts.grants.give(operator, 'of_private', { organizationId })
  const body = { name: 'CI', permissions: ['read'], test: true }
  const created = await service.request('POST', '/v1/api-keys/personal', { token, body })
  assert.equal(created.status, 201, created.text)
  const { id, secret } = created.body as { id: string; secret: string }
  assert.match(secret, /^svc_test_[0-9A-Za-z]{32}$/)
  const ask = (path: string, key = secret) => service.request('GET', path, { key })

  for (const table of ['of_public', 'of_open', 'of_private']) {
    assert.equal((await ask(`/v1/dataset/${table}`)).status, 200)
    assert.equal((await ask(`/v1/dataset/${table}/sample/json`)).body.length, 3)
    for (const path of [
      `/v1/dataset/${table}/files/csv`,
      `/v1/dataset/${table}/archives/1/files/csv`,
      `/v1/ogc/collections/${table}`,
      `/v1/ogc/collections/${table}/items`,
      `/v1/ogc/collections/${table}/items/1`,
      `/v1/ogc/collections/${table}/tiles/WebMercatorQuad/0/0/0`,
    ]) {
      const refused = await ask(path)
      assert.deepEqual([refused.status, refused.body.code], [403, 'test-key'], path)
    }
    assert.equal((await ask(`/v1/ogc/collections/${table}/items`, ada.key)).status, 200)
  }
  assert.equal((await ask('/v1/ogc/collections')).body.code, 'test-key')
  assert.equal((await readAccountLedger(service, ada)).balance, 20)

  const path = `/v1/api-keys/${id}`
  assert.equal((await service.request('GET', path, { token })).body.test, true)
  const write = { permissions: ['read', 'write'] }
  assert.equal((await service.request('PATCH', path, { token, body: write })).status, 400)
  const rotated = await service.request('POST', `${path}/rotate`, { token })
  assert.match(rotated.body.secret, /^svc_test_/)
  assert.equal((await ask('/v1/dataset/of_private', rotated.body.secret)).status, 200)
  assert.equal((await ask('/v1/dataset/of_private')).status, 401)
  const asWriter = { ...body, permissions: ['write'] }
  assert.equal(
    (await service.request('POST', '/v1/api-keys/personal', { token, body: asWriter })).status,
    400,
  )
})

test('the label of an installation may be "test" too: its keys are no test keys', async (t) => {
  const service = await openTestServer(t, { settings: { keyEnv: 'test' } })
  await publishText(service, 'places', 'a.geojson', points(30))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: [...ADD_ONS] })
  assert.match(key, /^svc_test_/)
  assert.equal((await service.request('GET', '/v1/ogc/collections/places/items', { key })).status, 200)
})
