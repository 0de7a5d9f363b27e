import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newId } from '../../base/id.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import { type DatabaseKind, databaseKinds, openTestServer, testOnce } from '../../testing/test-server.ts'

async function open(t: TestContext, database: DatabaseKind) {
  // No two timestamps are equal, so that lists sorted by creation time have a deterministic order.
  let time = Date.now()
  const clock = () => new Date(time++)
  const settings = { admins: ['root@example.org'] }
  const service = await openTestServer(t, { database, clock, settings })
  const root = await signIn(service, 'root@example.org')
  const call = (method: string, path: string, body?: unknown, token = root.token) =>
    service.request(method, `/v1/admin${path}`, { token, body })
  return { service, root, call }
}

const ids = (list: { data: { id: string }[] }) => list.data.map(({ id }) => id)

for (const database of databaseKinds) {
  testOnce(
    database,
    `administrators make organizations and set their add-ons and credits (${database})`,
    async (t) => {
      const { service, root, call } = await open(t, database)
      const made = await call('POST', '/organizations', { name: ' City of Utrecht ' })
      assert.equal(made.status, 201)
      assert.deepEqual(Object.keys(made.body), [
        'id',
        'name',
        'addOns',
        'credits',
        'members',
        'createdAt',
        'suspendedAt',
        'suspendReason',
        'publishing',
      ])
      assert.equal(made.body.name, 'City of Utrecht')
      assert.deepEqual([made.body.addOns, made.body.credits, made.body.members], [[], { balance: 0 }, 0])
      const path = `/organizations/${made.body.id}`

      const granted = await call('PATCH', path, { addOns: ['GIS_ACCESS', 'API_ACCESS', 'GIS_ACCESS'] })
      assert.equal(granted.status, 200)
      assert.deepEqual(granted.body.addOns, ['API_ACCESS', 'GIS_ACCESS'])
      assert.deepEqual((await call('PATCH', path, { addOns: [] })).body.addOns, [])
      assert.deepEqual((await call('POST', `${path}/credits`, { add: 30 })).body.credits, { balance: 30 })
      assert.deepEqual((await call('POST', `${path}/credits`, { add: 12 })).body.credits, { balance: 42 })
      assert.deepEqual((await call('POST', `${path}/credits`, { set: 5 })).body.credits, { balance: 5 })

      const events = await service.parts.database.db
        .selectFrom('events')
        .select(['action', 'actor'])
        .where('organization_id', '=', made.body.id)
        .orderBy('id')
        .execute()
      assert.deepEqual(
        events.map(({ action }) => action),
        [
          'organization.created',
          'organization.add-ons-changed',
          'organization.add-ons-changed',
          'credits.granted',
          'credits.granted',
          'credits.corrected',
        ],
      )
      assert.ok(events.every(({ actor }) => actor === `user:${root.userId}`))
    },
  )

  test(`lists of organizations and users are searched and read a page at a time (${database})`, async (t) => {
    const { service, root, call } = await open(t, database)
    const made: string[] = []
    for (const name of ['100% Maps', '100 Maps', 'under_score', 'Zürich', 'ZÜRCHER Ämter']) {
      made.push((await call('POST', '/organizations', { name })).body.id)
    }
    const ada = await signIn(service, 'ada@example.org')
    const all = (await call('GET', '/organizations')).body
    assert.deepEqual(ids(all), [root.organizationId, ...made, ada.organizationId])
    assert.equal(all.next, null)
    assert.equal(all.data.at(-1).members, 1)

    const first = (await call('GET', '/organizations?limit=5')).body
    const second = (await call('GET', `/organizations?limit=5&after=${first.next}`)).body
    assert.deepEqual([...ids(first), ...ids(second)], ids(all))
    assert.equal(second.next, null)
    const find = async (text: string) =>
      ids((await call('GET', `/organizations?search=${encodeURIComponent(text)}`)).body)
    assert.deepEqual(await find('100%'), [made[0]])
    assert.deepEqual(await find('MAPS'), [made[0], made[1]])
    assert.deepEqual(await find('r_s'), [made[2]])
    assert.deepEqual(await find('rich'), [made[3]])
    assert.deepEqual(await find('ÄMTER'), [made[4]])
    assert.deepEqual(await find('zürcher ä'), [made[4]])
    assert.deepEqual(await find(made[1]!), [made[1]])
    assert.deepEqual(await find("' or 1=1 --"), [])

    const users = (await call('GET', '/users')).body
    assert.deepEqual(
      users.data.map(({ email }: { email: string }) => email),
      ['root@example.org', 'ada@example.org'],
    )
    assert.deepEqual(Object.keys(users.data[0]), [
      'id',
      'email',
      'organizationId',
      'organizationName',
      'permissions',
      'organizations',
      'createdAt',
      'lastSignInAt',
      'blockedAt',
      'blockReason',
    ])
    assert.equal(users.data[1].organizationId, ada.organizationId)
    assert.equal(users.data[1].permissions.length, 6)
    assert.deepEqual(ids((await call('GET', '/users?search=ADA')).body), [ada.userId])
    const one = (await call('GET', '/users?limit=1')).body
    assert.deepEqual(ids((await call('GET', `/users?after=${one.next}`)).body), [ada.userId])
  })

  testOnce(
    database,
    `administrators manage the platform's keys, and those alone (${database})`,
    async (t) => {
      const { service, root, call } = await open(t, database)
      const body = { name: 'Publisher', permissions: ['read', 'write'] }
      const made = await call('POST', '/keys', body)
      assert.equal(made.status, 201)
      assert.deepEqual(Object.keys(made.body), [
        'id',
        'name',
        'scope',
        'permissions',
        'secret',
        'expiresAt',
        'createdAt',
      ])
      assert.equal(made.body.scope, 'platform')
      assert.equal(made.headers.get('location'), `/v1/admin/keys/${made.body.id}`)
      assert.ok(await keyOpens(service, made.body.secret))
      const path = `/keys/${made.body.id}`

      const personal = await service.request('POST', '/v1/api-keys/personal', { token: root.token, body })
      assert.deepEqual(ids((await call('GET', '/keys')).body), [made.body.id])
      assert.equal((await call('GET', path)).body.organizationId, null)
      assert.equal((await call('PATCH', path, { name: 'Nightly' })).body.name, 'Nightly')
      await service.parts.meter.flush()
      assert.equal((await call('GET', `${path}/usage`)).body.totals.calls, 1)
      const rotated = await call('POST', `${path}/rotate`)
      assert.ok(!(await keyOpens(service, made.body.secret)))
      assert.ok(await keyOpens(service, rotated.body.secret))
      assert.equal((await call('POST', `${path}/revoke`)).body.status, 'revoked')
      assert.ok(!(await keyOpens(service, rotated.body.secret)))
      assert.equal((await call('DELETE', path)).status, 204)
      assert.equal((await call('GET', path)).status, 404)

      // Each kind of key has its own path, for administrators too.
      assert.equal((await call('GET', `/keys/${personal.body.id}`)).status, 404)
      const platform = (await call('POST', '/keys', body)).body
      const elsewhere = await service.request('GET', `/v1/api-keys/${platform.id}`, { token: root.token })
      assert.equal(elsewhere.status, 404)
      const accessible = await service.request('GET', '/v1/api-keys/accessible', { token: root.token })
      assert.deepEqual(ids(accessible.body), [personal.body.id])
    },
  )

  testOnce(
    database,
    `a user who is not an administrator gets 403 everywhere, and nothing happens (${database})`,
    async (t) => {
      const { service, root, call } = await open(t, database)
      const ada = await signIn(service, 'ada@example.org')
      const key = (await call('POST', '/keys', { name: 'P', permissions: ['read'] })).body
      const routes: [method: string, path: string, body?: unknown][] = [
        ['GET', '/organizations'],
        ['POST', '/organizations', { name: 'X' }],
        ['POST', `/organizations/${ada.organizationId}/credits`, { add: 1000 }],
        ['GET', '/users'],
        ['GET', '/keys'],
        ['POST', '/keys', { name: 'X', permissions: ['read'] }],
        ['GET', `/keys/${key.id}`],
        ['PATCH', `/keys/${key.id}`, { name: 'X' }],
        ['POST', `/keys/${key.id}/rotate`],
        ['POST', `/keys/${key.id}/revoke`],
        ['DELETE', `/keys/${key.id}`],
        ['GET', `/keys/${key.id}/usage`],
        ['GET', `/keys/${key.id}/requests`],
        ['GET', `/keys/${key.id}/requests.csv`],
        ['GET', '/webhooks'],
        ['POST', '/webhooks', { url: 'https://hooks.example.org/', events: ['key.created'] }],
        ['GET', '/webhooks/x'],
        ['PATCH', '/webhooks/x', { paused: true }],
        ['DELETE', '/webhooks/x'],
        ['POST', '/webhooks/x/rotate'],
        ['POST', '/webhooks/x/test'],
        ['GET', '/webhooks/x/deliveries'],
        ['POST', '/webhooks/x/deliveries/x/redeliver'],
      ]
      const registered = service.routes.rows.filter(
        ({ method, url }) => url.startsWith('/v1/admin/') && method !== 'HEAD',
      )
      // The routes of other files have tests of their own.
      const ofOperator =
        /\/(users\/|address-blocks|events$|keys\/find$|access-requests|dashboard|mail-test|datasets\/:table\/grants|organizations\/:organizationId(?!\/credits))/
      assert.equal(registered.filter(({ url }) => !ofOperator.test(url)).length, routes.length)
      for (const [method, path, body] of routes) {
        const refused = await call(method, path, body, ada.token)
        assert.equal(refused.status, 403, `${method} ${path}`)
        assert.equal(refused.body.code, 'not-administrator')
        const anonymous = await service.request(method, `/v1/admin${path}`, { body })
        assert.equal(anonymous.status, 401, `${method} ${path}`)
      }
      assert.ok(await keyOpens(service, key.secret))
      const { data } = (await call('GET', '/organizations')).body
      assert.deepEqual(ids({ data }), [root.organizationId, ada.organizationId])
      assert.deepEqual(data[1].credits, { balance: 0 })
    },
  )

  testOnce(
    database,
    `administrators' bad input is 400 with the field's name, unknown organizations 404 (${database})`,
    async (t) => {
      const { root, call } = await open(t, database)
      const own = `/organizations/${root.organizationId}`
      const wrong: [method: string, path: string, body: unknown, field: string][] = [
        ['POST', '/organizations', {}, '/name'],
        ['POST', '/organizations', { name: ' ' }, '/name'],
        ['POST', '/organizations', { name: 'x', credits: 5 }, '/credits'],
        ['PATCH', own, {}, 'body'],
        ['PATCH', own, { addOns: ['FREE_BEER'] }, '/addOns/0'],
        ['PATCH', own, { addOns: 'API_ACCESS' }, '/addOns'],
        ['POST', `${own}/credits`, {}, 'body'],
        ['POST', `${own}/credits`, { add: 1, set: 1 }, 'body'],
        ['POST', `${own}/credits`, { add: 0 }, '/add'],
        ['POST', `${own}/credits`, { add: 1.5 }, '/add'],
        ['POST', `${own}/credits`, { add: '5' }, '/add'],
        ['POST', `${own}/credits`, { set: -1 }, '/set'],
        ['POST', '/keys', { name: 'x', permissions: [] }, '/permissions'],
      ]
      for (const [method, path, body, field] of wrong) {
        const { status, body: problem } = await call(method, path, body)
        assert.equal(status, 400, `${method} ${path} ${JSON.stringify(body)}`)
        assert.equal(problem.errors[0].path, field)
      }
      for (const query of ['?limit=0', '?limit=1001', '?page=2', '?search=%00', '?after=%00']) {
        assert.equal((await call('GET', `/organizations${query}`)).status, 400, query)
        assert.equal((await call('GET', `/users${query}`)).status, 400, query)
      }
      for (const unknown of [newId('org'), 'x', '%00']) {
        const path = `/organizations/${unknown}`
        assert.equal((await call('PATCH', path, { addOns: [] })).status, 404)
        assert.equal((await call('POST', `${path}/credits`, { add: 1 })).status, 404)
      }
    },
  )
}
