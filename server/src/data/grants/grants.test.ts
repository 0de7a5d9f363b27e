import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { type Account, openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'

const ITEMS = '/v1/ogc/collections/salaries/items'
const FILE = '/v1/dataset/salaries/files/csv'
const ARCHIVE = '/v1/dataset/salaries/archives/1/files/csv'
const METADATA = '/v1/dataset/salaries'

const statusOf = async (service: TestServer, path: string, { key }: Pick<Account, 'key'>) =>
  (await service.request('GET', path, { key })).status

async function publishPrivate(service: TestServer): Promise<void> {
  const description = { visibility: 'private', credits: 5 } as const
  await publishText(service, 'salaries', 'a.geojson', points(30), { description })
}

for (const database of databaseKinds) {
  test(`a grant opens a private dataset until it expires or ends (${database})`, async (t) => {
    const clock = testClock()
    const settings = { admins: ['root@example.org'] }
    const service = await openTestServer(t, { database, clock: clock.clock, settings })
    await publishPrivate(service)
    const ada = await openAccount(service, 'ada@example.org', { credits: 20 })
    const bob = await openAccount(service, 'bob@example.org', { credits: 20, addOns: ['API_ACCESS'] })
    const { token } = await signIn(service, 'root@example.org')
    const path = '/v1/admin/datasets/salaries/grants'
    const give = (body: object) => service.request('POST', path, { token, body })
    const { organizationId } = ada

    assert.equal(await statusOf(service, ITEMS, ada), 404)
    const expiresAt = new Date(clock.clock().getTime() + MINUTE).toISOString()
    const given = await give({ organizationId, expiresAt, access: ['tiles', 'features'] })
    assert.equal(given.status, 201, given.text)
    assert.match(given.body.id, /^grt_/)
    assert.deepEqual(given.body.access, ['features', 'tiles'])
    assert.equal(await statusOf(service, ITEMS, ada), 200)
    const limited = await service.request('GET', FILE, { key: ada.key })
    assert.deepEqual([limited.status, limited.body.code], [403, 'access-limited'])
    assert.deepEqual((await service.request('GET', METADATA, { key: ada.key })).body.access, [
      'features',
      'tiles',
    ])
    for (const address of [ITEMS, FILE, METADATA]) assert.equal(await statusOf(service, address, bob), 404)
    clock.pass(MINUTE)
    for (const address of [ITEMS, FILE, METADATA]) assert.equal(await statusOf(service, address, ada), 404)

    // A new grant replaces the first, with a price of its own and without old versions.
    const second = await give({ organizationId, access: ['downloads'], credits: 2 })
    assert.equal(second.body.id, given.body.id)
    assert.equal((await service.request('GET', METADATA, { key: ada.key })).body.credits, 2)
    const download = await service.request('GET', FILE, { key: ada.key })
    assert.deepEqual([download.status, download.headers.get('credits-charged')], [200, '2'])
    assert.deepEqual([await statusOf(service, ITEMS, ada), await statusOf(service, ARCHIVE, ada)], [403, 403])

    assert.equal((await give({ organizationId: 'org_4f9QmZ1xYb7KcD2Lw8Rt' })).status, 404)
    for (const body of [
      { organizationId, access: ['everything'] },
      { organizationId, access: [] },
      { organizationId, credits: -1 },
      { organizationId, expiresAt: '2001-01-01T00:00:00Z' },
      { organizationId, more: true },
    ])
      assert.equal((await give(body)).status, 400, JSON.stringify(body))
    assert.equal((await service.request('GET', path, { token })).body.data.length, 1)
    assert.equal((await service.request('DELETE', `${path}/${given.body.id}`, { token })).status, 204)
    assert.equal(await statusOf(service, METADATA, ada), 404)
    assert.equal((await service.request('DELETE', `${path}/${given.body.id}`, { token })).status, 404)
    assert.equal((await service.request('GET', path, { token: ada.token })).status, 403)
    assert.equal((await service.request('GET', path.replace('salaries', 'x'), { token })).status, 404)
  })
}

test('a grant that ends is refused on every node before the call returns', {
  skip: lacks('postgres'),
}, async (t) => {
  const shared = { databaseUrl: await temporaryDatabase(t), dataDir: temporaryFolder(t) }
  const [one, other] = [await openTestServer(t, shared), await openTestServer(t, shared)]
  await publishPrivate(one)
  const ada = await openAccount(one, 'ada@example.org')
  for (let round = 0; round < 5; round++) {
    const { organizationId } = ada
    await one.parts.grants.give(operator, 'salaries', { organizationId })
    assert.deepEqual([await statusOf(one, ITEMS, ada), await statusOf(other, ITEMS, ada)], [200, 200])
    await one.parts.grants.endFor(operator, 'salaries', organizationId)
    assert.deepEqual([await statusOf(other, ITEMS, ada), await statusOf(one, ITEMS, ada)], [404, 404])
  }
})

test('grants are given, listed and ended by a command, and do not open a dataset of the same name', async (t) => {
  const service = await openTestServer(t)
  await publishPrivate(service)
  const ada = await openAccount(service, 'ada@example.org')
  const run = (...args: string[]) => runCommand(service.config, 'grant', 'salaries', ...args)
  const given = await run(ada.organizationId, '--access', 'features', '--expires', '2090-01-31T00:00:00Z')
  assert.equal(given.code, 0, given.stderr)
  assert.equal(await statusOf(service, ITEMS, ada), 200)
  const { json } = await run('--json')
  assert.deepEqual([json.data.length, json.data[0].access], [1, ['features']])
  assert.equal((await run(ada.organizationId, '--access', 'x')).code, 2)
  assert.equal((await run(ada.organizationId, '--remove')).code, 0)
  assert.equal(await statusOf(service, ITEMS, ada), 404)

  await service.parts.grants.give(operator, 'salaries', { organizationId: ada.organizationId })
  assert.equal(await statusOf(service, ITEMS, ada), 200)
  await service.parts.publishing.unpublish('salaries', operator)
  await publishPrivate(service)
  assert.equal(await statusOf(service, ITEMS, ada), 404)
})

test('a grant opens a public dataset without the add-on', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'salaries', 'a.geojson', points(30), { description: { credits: 0 } })
  const ada = await openAccount(service, 'ada@example.org')
  assert.deepEqual([await statusOf(service, ITEMS, ada), await statusOf(service, FILE, ada)], [403, 403])
  const access = ['features'] as const
  await service.parts.grants.give(operator, 'salaries', { organizationId: ada.organizationId, access })
  const refused = await service.request('GET', FILE, { key: ada.key })
  assert.deepEqual([await statusOf(service, ITEMS, ada), refused.body.code], [200, 'add-on-missing'])
  const list = await service.request('GET', '/v1/ogc/collections', { key: ada.key })
  assert.deepEqual(
    list.body.collections.map(({ id }: { id: string }) => id),
    ['salaries'],
  )
})

test('systems of the operator give access with a platform key, once for an Idempotency-Key', async (t) => {
  const service = await openTestServer(t)
  await publishPrivate(service)
  const { organizationId, key: customer } = await openAccount(service, 'ada@example.org')
  const give = async (permission: string) => {
    const { secret: key } = await service.parts.keys.createPlatform(operator, {
      name: permission,
      permissions: [permission],
    })
    const headers = { 'idempotency-key': 'order-17' }
    const body = { organizationId }
    return service.request('POST', '/v1/admin/datasets/salaries/grants', { key, body, headers })
  }
  for (const permission of ['admin', 'write', 'write:salaries']) {
    const given = await give(permission)
    assert.equal(given.status, 201, given.text)
    assert.equal(await statusOf(service, ITEMS, { key: customer }), 200)
  }
  for (const permission of ['read', 'write:places']) assert.equal((await give(permission)).status, 403)
})

test('an organization sees that it got access, and neither the people nor the addresses of the publisher', async (t) => {
  const service = await openTestServer(t)
  const ada = await openAccount(service, 'ada@example.org', { permissions: ['read', 'write'] })
  const eve = await openAccount(service, 'eve@example.org')
  await service.parts.organizationAdministration.setPublishing(operator, ada.organizationId, true)
  const description = { visibility: 'private' } as const
  await publishText(service, 'salaries', 'a.geojson', points(3), { description, ownerId: ada.organizationId })
  const wishes = { name: 'Shop of the operator', permissions: ['admin'] }
  const { secret: shop } = await service.parts.keys.createPlatform(operator, wishes)
  const body = { organizationId: eve.organizationId }
  for (const caller of [{ token: ada.token }, { key: ada.key }, { key: shop }]) {
    const given = await service.request('POST', '/v1/admin/datasets/salaries/grants', { ...caller, body })
    assert.equal(given.status, 201, given.text)
  }
  const path = `/v1/organization/${eve.organizationId}/events`
  const { body: events, text } = await service.request('GET', `${path}?kind=dataset`, { token: eve.token })
  assert.deepEqual(
    events.data.map(({ actorName, address }: { actorName: string; address: string }) => [actorName, address]),
    [
      ['The operator', null],
      ['The publisher', null],
      ['The publisher', null],
    ],
  )
  const csv = await service.request('GET', `${path}.csv?kind=dataset`, { token: eve.token })
  for (const shown of [text, csv.text]) assert.doesNotMatch(shown, /ada@|127\.0\.0\.1|Shop/)
  // What its own people do is shown as before.
  const own = await service.request('GET', `${path}?kind=session`, { token: eve.token })
  assert.equal(own.body.data[0].actorName, 'eve@example.org')
  assert.match(own.body.data[0].address, /127\.0\.0\.1/)
})
