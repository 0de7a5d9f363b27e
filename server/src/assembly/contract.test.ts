import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../testing/account.ts'
import { ITEMS, isProblem, openContract } from '../testing/contract/contract.ts'
import { endpoints } from '../testing/contract/contract-endpoints.ts'
import { errors } from '../testing/contract/contract-errors.ts'
import { rules } from '../testing/contract/contract-rules.ts'
import { states } from '../testing/contract/contract-states.ts'
import { points, publishText } from '../testing/publish.ts'
import { databaseKinds, openTestServer, testOnce } from '../testing/test-server.ts'

/**
 * The contract, row by row, over HTTP: endpoints, rules, states, errors, limits and versions. Each row is the
 * title of its test; what a row leaves open is tested elsewhere.
 */

for (const database of databaseKinds) {
  test(`the contract holds on ${database}`, async (t) => {
    const contract = await openContract(t, database)
    for (const [part, rows] of Object.entries({ endpoints, rules, states, errors })) {
      for (const [name, check] of rows) await t.test(`${part}: ${name}`, () => check(contract))
    }

    await t.test('limits: the secret has 32 characters after the environment label', async () => {
      const { secret } = await contract.create()
      assert.equal(secret.slice('svc_live_'.length).length, 32)
    })
    await t.test('versions: every endpoint of the contract begins with /v1', () => {
      const paths = contract.service.routes.rows.map(({ url }) => url)
      for (const path of [
        '/v1/api-keys/my-keys',
        '/v1/api-keys/accessible',
        '/v1/api-keys/personal',
        '/v1/api-keys/:keyId',
        '/v1/api-keys/:keyId/rotate',
        '/v1/api-keys/:keyId/revoke',
        '/v1/api-keys/:keyId/usage',
        '/v1/api-keys/organization/:organizationId',
        '/v1/organization/me',
        '/v1/dataset/:table/files/:format',
        '/v1/dataset/:table/sample/json',
      ]) {
        assert.ok(paths.includes(path), path)
      }
    })
  })

  testOnce(database, `errors: 429 past the rate, for keys and for users (${database})`, async (t) => {
    const clock = () => new Date('2026-11-15T12:00:00Z')
    const service = await openTestServer(t, {
      database,
      clock,
      settings: { keyRate: 60, keyBurst: 2, userRate: 5 },
    })
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
    await publishText(service, 'places', 'places.geojson', points(3))
    const items = () => service.request('GET', ITEMS, { key: ada.key })
    assert.deepEqual([(await items()).status, (await items()).status], [200, 200])
    isProblem(await items(), 429)
    // Signing in and creating the key used two of the five requests.
    const list = () => service.request('GET', '/v1/api-keys/my-keys', { token: ada.token })
    for (let i = 0; i < 3; i++) assert.equal((await list()).status, 200)
    const refused = await list()
    isProblem(refused, 429)
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  })
}
