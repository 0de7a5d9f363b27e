import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../../testing/account.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`a suspended organization's keys are refused until it is resumed; a deleted one is closed (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const root = await signIn(service, 'root@example.org')
    const ada = await signIn(service, 'ada@example.org')
    const call = (method: string, path: string, body?: unknown, token = root.token) =>
      service.request(method, path, { token, body })
    const base = `/v1/admin/organizations/${ada.organizationId}`
    const key = { name: 'Map', permissions: ['read'] }
    const personal = (await call('POST', '/v1/api-keys/personal', key, ada.token)).body
    const shared = (await call('POST', `/v1/api-keys/organization/${ada.organizationId}`, key, ada.token))
      .body
    const open = async () => [
      await keyOpens(service, personal.secret),
      await keyOpens(service, shared.secret),
    ]
    assert.deepEqual(await open(), [true, true])

    assert.equal((await call('POST', `${base}/suspend`, { reason: 'Unpaid' })).body.suspendReason, 'Unpaid')
    assert.deepEqual(await open(), [false, false])
    const me = await call('GET', '/v1/organization/me', undefined, ada.token)
    assert.ok(me.body.suspendedAt)
    assert.equal((await call('POST', `${base}/resume`)).body.suspendedAt, null)
    assert.deepEqual(await open(), [true, true])

    assert.equal((await call('PATCH', base, { name: 'Ada & Co' })).body.name, 'Ada & Co')
    assert.equal((await call('PATCH', base, {})).status, 400)
    const members = (await call('GET', `${base}/members`)).body.data
    assert.deepEqual(
      members.map(({ email }: { email: string }) => email),
      ['ada@example.org'],
    )
    assert.equal((await call('GET', `${base}/keys`)).body.data.length, 2)
    await service.parts.meter.flush()
    assert.ok((await call('GET', `${base}/usage`)).body.totals.calls > 0)
    await call('POST', `${base}/credits`, { add: 7 })
    assert.equal((await call('GET', `${base}/ledger`)).body.data[0].amount, 7)

    assert.equal((await call('DELETE', base)).status, 204)
    assert.deepEqual(await open(), [false, false])
    for (const change of [{ add: 7 }, { set: 0 }])
      assert.equal((await call('POST', `${base}/credits`, change)).status, 404)
    assert.equal((await call('GET', `${base}/ledger`)).body.data.length, 1)
    assert.equal((await call('GET', '/v1/organization/me', undefined, ada.token)).status, 404)
    const list = (await call('GET', '/v1/admin/organizations')).body.data
    assert.ok(!list.some(({ id }: { id: string }) => id === ada.organizationId))
    const events = (await call('GET', `/v1/admin/events?organizationId=${ada.organizationId}`)).body.data
    const actions = events.map(({ action }: { action: string }) => action)
    for (const action of ['organization.suspended', 'organization.resumed', 'organization.closed'])
      assert.ok(actions.includes(action), action)
    assert.ok(!JSON.stringify(events).includes('Ada & Co'))
  })

  test(`a personal key that is created while its organization is deleted is refused or revoked (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const root = await signIn(service, 'root@example.org')
    for (let round = 0; round < 8; round++) {
      const ada = await signIn(service, `ada${round}@example.org`)
      const body = { name: 'Map', permissions: ['read'] }
      const created = () => service.request('POST', '/v1/api-keys/personal', { token: ada.token, body })
      const deleted = () =>
        service.request('DELETE', `/v1/admin/organizations/${ada.organizationId}`, { token: root.token })
      const [deletion, ...creations] = await Promise.all([deleted(), created(), created()])
      assert.equal(deletion.status, 204)
      for (const { status } of creations) assert.ok(status === 201 || status === 409, String(status))
      const { data } = (await service.request('GET', '/v1/api-keys/my-keys', { token: ada.token })).body
      const statuses = data.map(({ status }: { status: string }) => status)
      assert.ok(!statuses.includes('active'), `round ${round}: ${statuses}`)
    }
  })
}

test('the commands of organizations do what the routes do', async (t) => {
  const service = await openTestServer(t)
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const run = (...args: string[]) => runCommand(service.config, 'org', ...args)
  assert.equal((await run('suspend', ada.organizationId)).code, 2, 'without a reason')
  const suspended = await run('suspend', ada.organizationId, '--reason', 'Unpaid', '--json')
  assert.deepEqual([suspended.code, suspended.json.suspendReason], [0, 'Unpaid'])
  assert.equal(await keyOpens(service, ada.key), false)
  assert.match((await run('resume', ada.organizationId)).stdout, /^Resumed organization org_/)
  assert.equal(await keyOpens(service, ada.key), true)
  assert.match((await run('delete', ada.organizationId)).stdout, /^Deleted organization org_/)
  assert.equal(await keyOpens(service, ada.key), false)
  assert.equal((await run('list', '--json')).json.data.length, 0)
  for (const args of [
    ['delete', ada.organizationId],
    ['resume', ada.organizationId],
    ['add-on', ada.organizationId, 'API_ACCESS'],
    ['credits', ada.organizationId, '--add', '7'],
    ['member', ada.organizationId, 'bob@example.org'],
  ]) {
    assert.equal((await run(...args)).code, 1, args[0])
  }
})

test('an administrator sees one organization; others get 403, and unknown ones are 404', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  const root = await signIn(service, 'root@example.org')
  const ada = await signIn(service, 'ada@example.org')
  const registered = service.routes.rows.filter(
    ({ method, url }) =>
      /^\/v1\/admin\/(organizations\/:|dashboard|mail-test|access)/.test(url) && method !== 'HEAD',
  )
  assert.ok(registered.length >= 13)
  for (const { method, url } of registered) {
    const path = url
      .replace(':organizationId', ada.organizationId)
      .replace(':requestId', 'req_00000000000000000000')
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    const refused = await service.request(method, path, { token: ada.token, body })
    assert.deepEqual([refused.status, refused.body.code], [403, 'not-administrator'], `${method} ${url}`)
    assert.equal((await service.request(method, path, { body })).status, 401, `${method} ${url}`)
  }
  for (const part of ['', '/members', '/keys', '/usage', '/ledger']) {
    const path = `/v1/admin/organizations/org_00000000000000000000${part}`
    assert.equal((await service.request('GET', path, { token: root.token })).status, 404, path)
  }
})
