import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator, recordEvent } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

const MAP = { name: 'Map', permissions: ['read'] }

async function sessionKey(service: TestServer, token: string): Promise<string> {
  const created = await service.request('POST', '/v1/auth/session-key', { token })
  return created.body.secret
}

for (const database of databaseKinds) {
  test(`calls of the console are counted for the user, in the organization they are in (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const read = (key: string) => service.request('GET', '/v1/datasets', { key })
    for (let i = 0; i < 2; i++) await read(await sessionKey(service, ada.token))
    const own = (await service.request('POST', '/v1/api-keys/personal', { token: ada.token, body: MAP })).body
    await read(own.secret)
    await service.request('DELETE', `/v1/api-keys/${own.id}`, { token: ada.token })

    // Bob joins Ada's organization on the same day; his next session acts for it.
    await read(await sessionKey(service, bob.token))
    await service.parts.members.add(operator, ada.organizationId, 'bob@example.org')
    await read(await sessionKey(service, (await signIn(service, 'bob@example.org')).token))
    await service.parts.meter.flush()

    const usage = await service.request('GET', `/v1/organization/${ada.organizationId}/usage`, {
      token: ada.token,
    })
    assert.deepEqual(usage.body.members, [
      { userId: ada.userId, email: 'ada@example.org', calls: 2, credits: 0 },
      { userId: bob.userId, email: 'bob@example.org', calls: 1, credits: 0 },
    ])
    assert.deepEqual(usage.body.keys, [{ keyId: own.id, name: 'Map', isDeleted: true, calls: 1, credits: 0 }])
    assert.equal(usage.body.totals.calls, 4)
  })

  test(`what the console bought in one organization is not free in the next (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'places.geojson', points(3))
    const wishes = { addOns: ['API_ACCESS' as const], credits: 5 }
    const ada = await openAccount(service, 'ada@example.org', wishes)
    const bob = await openAccount(service, 'bob@example.org', wishes)
    const download = async (token: string) => {
      const key = await sessionKey(service, token)
      const { status, headers } = await service.request('GET', '/v1/dataset/places/files/csv', { key })
      return [status, headers.get('credits-charged'), headers.get('credits-remaining')]
    }
    assert.deepEqual(await download(bob.token), [200, '1', '4'])
    assert.deepEqual(await download(bob.token), [200, '0', '4'])
    await service.parts.members.add(operator, ada.organizationId, 'bob@example.org')
    const { token } = await signIn(service, 'bob@example.org')
    assert.deepEqual(await download(token), [200, '1', '4'])
    assert.deepEqual(await download(token), [200, '0', '4'])
  })

  test(`events name users and keys, also deleted ones, and are filtered and exported (${database})`, async (t) => {
    const settings = { admins: ['root@example.org'] }
    const service = await openTestServer(t, { database, settings })
    const root = await signIn(service, 'root@example.org')
    const ada = await signIn(service, 'ada@example.org')
    const call = (method: string, path: string, body?: unknown, token = ada.token) =>
      service.request(method, path, { token, body })
    const named = { ...MAP, name: '=HYPERLINK("x"), "quoted"' }
    const key = (await call('POST', '/v1/api-keys/personal', named)).body
    await call('DELETE', `/v1/api-keys/${key.id}`)
    await call('POST', `/v1/admin/organizations/${ada.organizationId}/credits`, { add: 5 }, root.token)

    const path = `/v1/organization/${ada.organizationId}`
    const events = (await call('GET', `${path}/events?kind=key`)).body.data
    assert.deepEqual(
      events.map((event: { action: string; actorName: string; subjectName: string }) => [
        event.action,
        event.actorName,
        event.subjectName,
      ]),
      [
        ['key.deleted', 'ada@example.org', named.name],
        ['key.created', 'ada@example.org', named.name],
      ],
    )
    // Members need not know which of the operator's people did it; administrators do.
    const [granted] = (await call('GET', `${path}/events?kind=credits.granted`)).body.data
    assert.equal(granted.actorName, 'The operator')
    const all = await call('GET', `/v1/admin/events?kind=credits.granted`, undefined, root.token)
    assert.equal(all.body.data[0].actorName, 'root@example.org')

    assert.equal(granted.address, null)
    assert.match(all.body.data[0].address, /127\.0\.0\.1/)

    // Nor which of the operator's keys, also when it was deleted.
    const { db } = service.parts.database
    const gone = { actor: 'key:key_gone', address: '198.51.100.7', requestId: null }
    const platform = { action: 'key.created', organizationId: null, subject: gone.actor }
    const { organizationId } = ada
    const done = {
      action: 'credits.taken',
      organizationId,
      subject: `organization:${organizationId}`,
      detail: {},
    }
    await db.transaction().execute(async (tx) => {
      await recordEvent(tx, new Date(), operator, { ...platform, detail: { name: 'Nightly' } })
      await recordEvent(tx, new Date(), gone, done)
    })
    const [taken] = (await call('GET', `${path}/events?kind=credits.taken`)).body.data
    assert.deepEqual([taken.actorName, taken.address], ['The operator', null])
    assert.deepEqual((await call('GET', `${path}/events?q=nightly`)).body.data, [])

    // Reasons are for the operators only.
    const carl = await signIn(service, 'carl@example.org')
    await service.parts.members.add(operator, ada.organizationId, 'carl@example.org', [])
    const reason = 'Suspected of fraud'
    await call('POST', `/v1/admin/users/${carl.userId}/block`, { reason }, root.token)
    await call('POST', `/v1/admin/organizations/${ada.organizationId}/suspend`, { reason }, root.token)
    for (const kind of ['user.blocked', 'organization.suspended']) {
      const ofMembers = await call('GET', `${path}/events?kind=${kind}`)
      assert.deepEqual([ofMembers.body.data.length, ofMembers.body.data[0].detail], [1, {}], kind)
      assert.ok(!(await call('GET', `${path}/events.csv?kind=${kind}`)).text.includes(reason))
      const ofOperators = await call('GET', `/v1/admin/events?kind=${kind}`, undefined, root.token)
      assert.deepEqual(ofOperators.body.data[0].detail, { reason })
    }

    const csv = await call('GET', `${path}/events.csv?kind=key&userId=${ada.userId}`)
    assert.match(csv.headers.get('content-type')!, /^text\/csv/)
    assert.match(csv.headers.get('content-disposition')!, /filename="events\.csv"/)
    const lines = csv.text.trimEnd().split('\r\n')
    assert.equal(lines[0], 'id,at,action,actor,actorName,subject,subjectName,detail,address')
    assert.equal(lines.length, 3)
    assert.ok(lines[1]!.includes(`"'=HYPERLINK(""x""), ""quoted"""`), lines[1])
    for (const time of ['yesterday', '2030-12-31T23:59:60Z', '9999-12-31T23:59:59-12:00']) {
      assert.equal((await call('GET', `${path}/events?since=${time}`)).status, 400, time)
      assert.equal((await call('GET', `${path}/ledger?since=${time}`)).status, 400, time)
    }
    assert.equal((await call('GET', `${path}/events.csv`, undefined, root.token)).status, 403)

    const ledger = (await call('GET', `${path}/ledger?kind=grant`)).body.data
    assert.deepEqual([ledger.length, ledger[0].member, ledger[0].amount], [1, null, 5])
    const later = new Date(Date.now() + 60_000).toISOString()
    assert.deepEqual((await call('GET', `${path}/ledger?since=${later}`)).body.data, [])
    const file = await call('GET', `${path}/ledger.csv`)
    assert.equal(
      file.text.split('\r\n')[0],
      'id,at,kind,amount,balance,table,version,format,key,keyName,member',
    )
    assert.equal(file.text.trimEnd().split('\r\n').length, 2)
    assert.equal((await call('GET', `${path}/ledger?kind=gift`)).status, 400)
  })
}
