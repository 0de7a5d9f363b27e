import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail, signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'
import {
  findTraces,
  leaveTraces,
  requireFates,
  requireListedColumns,
  type Traces,
} from './traces.test-kit.ts'

for (const database of databaseKinds) {
  test(`a user closes their account; the audit log keeps a pseudonym (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { payments: ['demo'] } })
    const ada = await signIn(service, 'ada@example.org')
    const eve = await openAccount(service, 'eve@example.org')
    const shared = await createKey(service, eve, ['read'], 'organization')
    await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', ['APIKEY_VIEW'])
    const both = await signIn(service, 'eve@example.org')
    assert.equal(both.organizationId, ada.organizationId)
    const there = await createKey(service, both, ['read'])
    await service.request('PATCH', `/v1/organization/${eve.organizationId}`, {
      token: eve.token,
      body: { name: 'Eve’s maps' },
    })
    await leaveTraces(service, eve, shared.secret)
    await createKey(service, eve, ['read'])
    const { db } = service.parts.database
    const traces: Traces = {
      user: { ids: [eve.userId, eve.keyId, there.id], texts: ['eve@example.org'] },
      organization: {
        ids: [eve.organizationId, shared.id],
        texts: ['Eve’s maps', "eve's organization", 'Eve’s company'],
      },
    }
    const before = await findTraces(service, traces)
    const closed = await service.request('DELETE', '/v1/auth/me', both)
    assert.equal(closed.status, 204, closed.text)
    assert.match(closed.headers.get('set-cookie')!, /wayleave_refresh=; .*Max-Age=0/)
    for (const secret of [eve.key, there.secret, shared.secret]) assert.ok(!(await keyOpens(service, secret)))
    for (const { token } of [eve, both])
      assert.equal((await service.request('GET', '/v1/auth/me', { token })).status, 401)
    const refresh = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: both.refreshToken },
    })
    assert.equal(refresh.status, 401)

    await requireListedColumns(service)
    requireFates(before, await findTraces(service, traces))
    const events = await db.selectFrom('events').selectAll().execute()
    const ofEve = events.filter(({ actor, subject }) => [actor, subject].includes(`user:${eve.userId}`))
    assert.ok(ofEve.length > 5)
    assert.deepEqual(
      ofEve.filter(({ address }) => address !== null),
      [],
    )
    // Ada's organization goes on, and shows who it was by the id only.
    const { body } = await service.request('GET', `/v1/organization/${ada.organizationId}/events`, ada)
    const deleted = body.data.find(({ action }: { action: string }) => action === 'user.deleted')
    assert.deepEqual([deleted.subject, deleted.subjectName], [`user:${eve.userId}`, null])
    const members = await service.request('GET', `/v1/organization/${ada.organizationId}/members`, ada)
    assert.equal(members.body.data.length, 1)
    // The address is free for a new user, who is somebody else.
    assert.notEqual((await signIn(service, 'eve@example.org')).userId, eve.userId)
  })

  test(`a manager deletes an organization with its keys; its members keep their others (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await openAccount(service, 'ada@example.org', { credits: 5 })
    const eve = await openAccount(service, 'eve@example.org')
    const shared = await createKey(service, ada, ['read'], 'organization')
    await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', ['APIKEY_VIEW'])
    const eveForAda = await signIn(service, 'eve@example.org')
    const there = await createKey(service, eveForAda, ['read'])
    const path = `/v1/organization/${ada.organizationId}`
    // Without the permission, and with a token for another organization.
    assert.equal((await service.request('DELETE', path, eveForAda)).status, 403)
    await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', ['MEMBER_MANAGE'])
    assert.equal((await service.request('DELETE', path, { token: eve.token })).status, 403)
    assert.ok(await keyOpens(service, shared.secret))

    assert.equal((await service.request('DELETE', path, ada)).status, 204)
    for (const secret of [ada.key, shared.secret, there.secret]) assert.ok(!(await keyOpens(service, secret)))
    assert.ok(await keyOpens(service, eve.key))
    assert.equal((await service.request('GET', '/v1/organization/me', eveForAda)).status, 404)
    const { body } = await service.request('GET', '/v1/organizations', eveForAda)
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [eve.organizationId],
    )
    const traces = { user: { ids: [], texts: [] }, organization: { ids: [], texts: ["ada's organization"] } }
    assert.deepEqual([...(await findTraces(service, traces)).organization], [])
  })
}

test('a refusal to close an account says why', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  const ada = await signIn(service, 'ada@example.org')
  await service.parts.members.add(operator, ada.organizationId, 'bob@example.org', [])
  const last = await service.request('DELETE', '/v1/auth/me', ada)
  assert.deepEqual([last.status, last.body.code], [409, 'last-member-manager'])
  const root = await service.request('DELETE', '/v1/auth/me', await signIn(service, 'root@example.org'))
  assert.deepEqual([root.status, root.body.code], [409, 'conflict'])
  assert.equal((await service.request('DELETE', '/v1/auth/me')).status, 401)
  assert.equal((await service.request('GET', '/v1/auth/me', ada)).status, 200)
})

test('users and the operator export what is stored about a user, and nothing of others', async (t) => {
  const service = await openTestServer(t, {
    settings: { admins: ['root@example.org'], payments: ['demo'], allowInternalAddresses: true },
  })
  await publishText(service, 'places', 'a.geojson', points(5))
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const eve = await openAccount(service, 'eve@example.org')
  await service.parts.members.add(operator, eve.organizationId, 'ada@example.org', [])
  await service.request('GET', '/v1/dataset/places/files/csv', { key: ada.key })
  const session = await service.request('POST', '/v1/auth/session-key', ada)
  await service.request('GET', '/v1/datasets', { key: session.body.secret })
  await service.parts.meter.flush()
  await service.parts.keyRequestLog!.flush()
  const product = { kind: 'pack', name: 'Credits', price: 100, currency: 'EUR', credits: 10 } as const
  const { id: productId } = await service.parts.products.add(operator, product)
  for (const { token } of [ada, eve]) {
    const events = ['key.created']
    const url = `https://hooks.example.org/${token === ada.token ? 'ada' : 'eve'}`
    await service.request('POST', '/v1/webhooks', { token, body: { url, events } })
    await service.request('POST', '/v1/billing/checkout', { token, body: { productId } })
    await nextMail(service, token === ada.token ? 'ada@example.org' : 'eve@example.org')
    const company = token === ada.token ? 'Ada’s company' : 'Eve’s company'
    await service.request('PATCH', '/v1/billing/profile', { token, body: { company } })
    const switches = { 'key-expiring': false }
    await service.request('PATCH', '/v1/notices', { token, body: { switches } })
  }
  const budgets = [
    { account: ada, userId: ada.userId, creditLimit: 70 },
    { account: eve, userId: ada.userId, creditLimit: 80 },
    { account: eve, userId: eve.userId, creditLimit: 4711 },
  ]
  for (const { account, userId, creditLimit } of budgets) {
    const path = `/v1/organization/${account.organizationId}/members/${userId}/budget`
    const set = await service.request('PUT', path, { token: account.token, body: { creditLimit } })
    assert.equal(set.status, 200, set.text)
  }
  const root = await signIn(service, 'root@example.org')
  const reason = 'Suspected of fraud'
  await service.parts.userAdministration.block(operator, ada.userId, reason)
  await service.parts.userAdministration.unblock(operator, ada.userId)

  const again = await signIn(service, 'ada@example.org')
  const own = await service.request('GET', '/v1/auth/me/data', again)
  assert.equal(own.status, 200, own.text)
  assert.equal(own.headers.get('cache-control'), 'no-store')
  const { body } = own
  assert.deepEqual(
    [body.user.email, body.organizations.length, body.keys.length, body.sessions.length],
    ['ada@example.org', 2, 1, 1],
  )
  assert.deepEqual(
    body.ledger.map(({ kind, amount, table }: { kind: string; amount: number; table: string }) => [
      kind,
      amount,
      table,
    ]),
    [
      ['purchase', 10, null],
      ['download', -1, 'places'],
    ],
  )
  const byId = (a: { organizationId: string }, b: { organizationId: string }) =>
    a.organizationId < b.organizationId ? -1 : 1
  assert.deepEqual(
    body.budgets,
    [
      { organizationId: ada.organizationId, creditLimit: 70 },
      { organizationId: eve.organizationId, creditLimit: 80 },
    ].sort(byId),
  )
  assert.deepEqual(body.spending, [
    { organizationId: ada.organizationId, month: body.exportedAt.slice(0, 7), credits: 1 },
  ])
  const operations = body.usage.map(({ operation }: { operation: string }) => operation).sort()
  assert.deepEqual(operations, ['download', 'metadata'])
  assert.ok(body.events.some(({ action }: { action: string }) => action === 'key.created'))
  assert.deepEqual(
    body.requests.map(({ keyId, table, status }: Record<string, unknown>) => [keyId, table, status]),
    [[ada.keyId, 'places', 200]],
  )
  assert.deepEqual(
    [body.noticesOff[0].notice, body.webhooks[0].url, body.orders[0].productId, body.billingProfiles],
    [
      'key-expiring',
      'https://hooks.example.org/ada',
      productId,
      [{ organizationId: ada.organizationId, company: 'Ada’s company', address: '', taxNumber: '' }],
    ],
  )
  const ofOthers = [
    'eve@example.org',
    'root@example.org',
    eve.userId,
    'Eve’s company',
    'hooks.example.org/eve',
    '4711',
  ]
  for (const text of [...ofOthers, reason, ada.key, 'whsec_']) assert.ok(!own.text.includes(text), text)

  const byOperator = await service.request('GET', `/v1/admin/users/${ada.userId}/data`, root)
  assert.deepEqual({ ...byOperator.body, exportedAt: '' }, { ...body, exportedAt: '' })
  const command = await runCommand(service.config, 'user', 'export', ada.userId)
  assert.equal(JSON.parse(command.stdout).user.email, 'ada@example.org')
  assert.equal((await service.request('GET', `/v1/admin/users/${ada.userId}/data`, again)).status, 403)
  assert.equal((await service.request('GET', '/v1/admin/users/usr_x/data', root)).status, 404)
})
