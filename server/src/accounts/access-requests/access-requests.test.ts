import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextMail, type SignedInUser, signIn, untakenMail } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'

const ROOT = 'root@example.org'
const settings = { admins: [ROOT], contactUrl: 'mailto:desk@example.org' }

for (const database of databaseKinds) {
  test(`a member asks for access, the operator gets a mail and grants it (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings })
    const root = await signIn(service, ROOT)
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}/access-requests`
    const asked = await service.request('POST', path, {
      token: ada.token,
      body: { addOns: ['GIS_ACCESS', 'API_ACCESS'], credits: 50, message: 'For https://evil.example maps' },
    })
    assert.equal(asked.status, 201)
    assert.equal(asked.body.state, 'open')
    assert.equal(asked.body.requestedBy, 'ada@example.org')
    for (const address of [ROOT, 'desk@example.org']) {
      const mail = await nextMail(service, address)
      assert.match(mail.source, /ada@example\.org asks for "Maps and GIS", "File downloads", 50 credits/)
      assert.ok(mail.link.endsWith('/administration/requests'))
      assert.doesNotMatch(mail.source, /https:\/\/evil/)
    }

    const again = await service.request('POST', path, { token: ada.token, body: { credits: 1 } })
    assert.deepEqual([again.status, again.body.code], [409, 'conflict'])

    const inbox = await service.request('GET', '/v1/admin/access-requests?state=open', { token: root.token })
    assert.deepEqual(
      inbox.body.data.map(({ id }: { id: string }) => id),
      [asked.body.id],
    )
    const grantPath = `/v1/admin/access-requests/${asked.body.id}/grant`
    const granted = await service.request('POST', grantPath, {
      token: root.token,
      body: { addOns: ['GIS_ACCESS'], note: 'Welcome' },
    })
    assert.equal(granted.status, 200)
    assert.deepEqual([granted.body.state, granted.body.note], ['granted', 'Welcome'])
    const me = (await service.request('GET', '/v1/organization/me', { token: ada.token })).body
    assert.deepEqual([me.addOns, me.credits], [['GIS_ACCESS'], { balance: 50 }])
    assert.match((await nextMail(service, 'ada@example.org')).source, /was granted/)

    const twice = await service.request('POST', grantPath, { token: root.token, body: {} })
    assert.equal(twice.status, 409)
    const after = (await service.request('GET', '/v1/organization/me', { token: ada.token })).body
    assert.deepEqual(after.credits, { balance: 50 })
    const own = await service.request('GET', path, { token: ada.token })
    assert.equal(own.body.data[0].state, 'granted')
    assert.equal(
      (await service.request('POST', path, { token: ada.token, body: { credits: 5 } })).status,
      201,
    )
  })
}

for (const database of databaseKinds) {
  test(`requests beside the deletion of the user or of the organization (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings })
    const { token } = await signIn(service, ROOT)
    const call = (method: string, path: string, body?: unknown, by = token) =>
      service.request(method, path, { token: by, body })
    const ask = (user: SignedInUser, body: unknown = { credits: 1 }) =>
      call('POST', `/v1/organization/${user.organizationId}/access-requests`, body, user.token)
    for (let round = 0; round < 6; round++) {
      const ada = await signIn(service, `ada${round}@example.org`)
      const asking = [ask(ada), call('DELETE', `/v1/admin/users/${ada.userId}`)]
      const asked = (await Promise.all(asking)).map(({ status }) => status)
      assert.ok([201, 401, 403, 404].includes(asked[0]!), `asking while the user is deleted is ${asked[0]}`)
      const bob = await signIn(service, `bob${round}@example.org`)
      const { id } = (await ask(bob)).body
      const deciding = [
        call('POST', `/v1/admin/access-requests/${id}/grant`, {}),
        call('DELETE', `/v1/admin/users/${bob.userId}`),
      ]
      const decided = (await Promise.all(deciding)).map(({ status }) => status)
      assert.ok([200, 404].includes(decided[0]!), `granting while the user is deleted is ${decided[0]}`)
      assert.deepEqual([asked[1], decided[1]], [204, 204])
    }

    const eve = await signIn(service, 'eve@example.org')
    assert.equal((await ask(eve, { credits: 1, message: 'a\0b' })).status, 400)
    const { id } = (await ask(eve)).body
    assert.equal((await call('DELETE', `/v1/admin/organizations/${eve.organizationId}`)).status, 204)
    assert.deepEqual((await call('GET', '/v1/admin/access-requests?state=open')).body.data, [])
    assert.equal((await call('POST', `/v1/admin/access-requests/${id}/grant`, {})).status, 409)
    const ledger = `/v1/admin/organizations/${eve.organizationId}/ledger?table=a%00b`
    assert.equal((await call('GET', ledger)).status, 400)
    assert.equal((await call('POST', '/v1/admin/keys/find', { secret: 'svc_a\0b' })).status, 400)
  })
}

test('a declined request grants nothing; empty requests, outsiders and unknown ids are refused', async (t) => {
  const service = await openTestServer(t, { settings })
  const root = await signIn(service, ROOT)
  const ada = await signIn(service, 'ada@example.org')
  const eve = await signIn(service, 'eve@example.org')
  const path = `/v1/organization/${ada.organizationId}/access-requests`
  const send = (token: string, body: object) => service.request('POST', path, { token, body })
  assert.equal((await send(ada.token, {})).status, 400)
  assert.equal((await send(ada.token, { addOns: ['EVERYTHING'] })).status, 400)
  assert.equal((await send(ada.token, { credits: -1 })).status, 400)
  assert.equal((await send(eve.token, { credits: 1 })).status, 403)
  const { id } = (await send(ada.token, { addOns: ['ARCHIVED_DATA'] })).body
  const decide = (way: string, requestId: string, token = root.token) =>
    service.request('POST', `/v1/admin/access-requests/${requestId}/${way}`, { token, body: {} })
  assert.equal((await decide('decline', id, ada.token)).status, 403)
  assert.equal((await decide('decline', 'req_00000000000000000000')).status, 404)
  assert.equal((await decide('grant', 'nothing')).status, 404)
  assert.equal((await decide('decline', id)).body.state, 'declined')
  const me = (await service.request('GET', '/v1/organization/me', { token: ada.token })).body
  assert.deepEqual(me.addOns, [])
  assert.equal((await service.request('GET', '/v1/admin/access-requests', { token: eve.token })).status, 403)
  assert.equal(await untakenMail(service, 'eve@example.org'), null)
})
