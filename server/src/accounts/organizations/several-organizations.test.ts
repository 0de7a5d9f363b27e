import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEMBER_PERMISSIONS } from '@wayleave/contract/permissions'
import { decodeJwt } from 'jose'
import { MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail, type SignedInUser, signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

const ALL = [...MEMBER_PERMISSIONS]

async function switchTo(service: TestServer, { token }: { token: string }, organizationId: string) {
  const answer = await service.request('POST', '/v1/auth/switch', { token, body: { organizationId } })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.accessToken as string
}

/** Eve has an organization of her own, and all permissions in that of Ada. */
async function openTwo(service: TestServer) {
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const eve = await openAccount(service, 'eve@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', ALL)
  return { ada, eve, eveForAda: await switchTo(service, eve, ada.organizationId) }
}

const currentOf = async (service: TestServer, token: string) =>
  (await service.request('GET', '/v1/organization/me', { token })).body.id as string | undefined

for (const database of databaseKinds) {
  test(`a user is in several organizations and switches between them (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const path = `/v1/organization/${ada.organizationId}/invitations`
    await service.request('POST', path, { ...ada, body: { email: 'bob@example.org' } })
    const { token } = await nextMail(service, 'bob@example.org')
    const accepted = await service.request('POST', '/v1/invitations/accept', { ...bob, body: { token } })
    assert.deepEqual([accepted.status, accepted.body.id], [200, ada.organizationId])

    assert.equal(await currentOf(service, bob.token), bob.organizationId)
    const { body } = await service.request('GET', '/v1/organizations', bob)
    assert.deepEqual(
      body.data.map(({ id, permissions }: { id: string; permissions: string[] }) => [id, permissions.length]),
      [
        [bob.organizationId, ALL.length],
        [ada.organizationId, 0],
      ],
    )
    const forAda = await switchTo(service, bob, ada.organizationId)
    assert.equal(await currentOf(service, forAda), ada.organizationId)
    // A token stays a token for its organization.
    assert.equal(await currentOf(service, bob.token), bob.organizationId)
    const refreshed = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: bob.refreshToken },
    })
    assert.equal(await currentOf(service, refreshed.body.accessToken), ada.organizationId)
    // The next session begins in the organization that was switched to last.
    assert.equal((await signIn(service, 'bob@example.org')).organizationId, ada.organizationId)
    // A session that acts for the organization already does not switch, and the audit log says so.
    await switchTo(service, { token: forAda }, ada.organizationId)
    const events = await service.request('GET', `/v1/organization/${ada.organizationId}/events`, ada)
    const ofBob = events.body.data.filter(({ actor }: { actor: string }) => actor === `user:${bob.userId}`)
    assert.deepEqual(
      ofBob
        .filter(({ action }: { action: string }) => !['session.started', 'member.added'].includes(action))
        .map(({ action, detail }: { action: string; detail: object }) => [action, detail]),
      [
        ['session.switched', { from: bob.organizationId }],
        ['invitation.accepted', { email: 'bob@example.org' }],
      ],
    )
    await switchTo(service, { token: forAda }, bob.organizationId)
    assert.equal((await signIn(service, 'bob@example.org')).organizationId, bob.organizationId)
  })

  test(`a token for one organization lists its keys and publishes for it only (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ada, eve, eveForAda } = await openTwo(service)
    await service.parts.organizationAdministration.setPublishing(operator, ada.organizationId, true)
    const own = await createKey(service, eve, ['read'])
    const forAda = { token: eveForAda, organizationId: ada.organizationId }
    const there = await createKey(service, forAda, ['read'])
    const shared = await createKey(service, forAda, ['read'], 'organization')
    const listed = async (token: string, path: string) =>
      (await service.request('GET', path, { token })).body.data.map(({ id }: { id: string }) => id).sort()
    assert.deepEqual(await listed(eve.token, '/v1/api-keys/my-keys'), [eve.keyId, own.id].sort())
    assert.deepEqual(await listed(eveForAda, '/v1/api-keys/my-keys'), [there.id])
    assert.deepEqual(await listed(eveForAda, '/v1/api-keys/accessible'), [there.id, shared.id].sort())
    assert.deepEqual(await listed(eve.token, '/v1/api-keys/accessible'), [eve.keyId, own.id].sort())
    // Only the token for Ada's organization publishes for it.
    const upload = (token: string) =>
      service.request('PUT', '/v1/dataset/of_ada?dryRun=true', { token, body: points(3) })
    assert.equal((await upload(eve.token)).status, 403)
    assert.equal((await upload(eveForAda)).status, 202)
  })

  test(`each organization pays for what a user downloads in it (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'a.geojson', points(5), { description: { credits: 3 } })
    const { ada, eve, eveForAda } = await openTwo(service)
    const download = async (token: string) => {
      const { body } = await service.request('POST', '/v1/auth/session-key', { token })
      const answer = await service.request('GET', '/v1/dataset/places/files/csv', { key: body.secret })
      assert.equal(answer.status, 200, answer.text)
    }
    const balances = async () => [
      (await service.parts.organizations.find(eve.organizationId)).credits,
      (await service.parts.organizations.find(ada.organizationId)).credits,
    ]
    await download(eve.token)
    assert.deepEqual(await balances(), [7, 10])
    await download(eveForAda)
    assert.deepEqual(await balances(), [7, 7])
    await download(eve.token)
    await download(eveForAda)
    assert.deepEqual(await balances(), [7, 7])
    await service.parts.meter.flush()
    for (const [token, organizationId] of [
      [eve.token, eve.organizationId],
      [eveForAda, ada.organizationId],
    ] as const) {
      const usage = await service.request('GET', `/v1/organization/${organizationId}/usage`, { token })
      assert.equal(usage.body.totals.credits, 3)
    }
  })

  test(`a member removed from one organization does not act for another one instead (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ada, eve, eveForAda } = await openTwo(service)
    const there = await createKey(service, { token: eveForAda, organizationId: ada.organizationId }, ['read'])
    const session = await service.request('POST', '/v1/auth/session-key', { token: eveForAda })
    const member = `/v1/organization/${ada.organizationId}/members/${eve.userId}`
    assert.equal((await service.request('DELETE', member, ada)).status, 204)
    assert.ok(!(await keyOpens(service, there.secret)))
    assert.ok(!(await keyOpens(service, session.body.secret)))
    assert.ok(await keyOpens(service, eve.key))

    const refreshed = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: eve.refreshToken },
    })
    for (const token of [eveForAda, refreshed.body.accessToken]) {
      assert.equal(await currentOf(service, token), undefined)
      const body = { name: 'Key', permissions: ['read'] }
      assert.equal((await service.request('POST', '/v1/api-keys/personal', { token, body })).status, 409)
      assert.equal((await service.request('POST', '/v1/auth/session-key', { token })).status, 409)
    }
    assert.equal(await currentOf(service, eve.token), eve.organizationId)
    await switchTo(service, { token: refreshed.body.accessToken }, eve.organizationId)
    assert.equal((await signIn(service, 'eve@example.org')).organizationId, eve.organizationId)
  })

  test(`members written by a node of the version before count (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ada, eve, eveForAda } = await openTwo(service)
    const { db } = service.parts.database
    const members = async () =>
      (await service.parts.organizationAdministration.members(ada.organizationId)).length
    // It moves Eve to the organization that she is a further member of.
    await db
      .updateTable('members')
      .set({ organization_id: ada.organizationId, permissions: '["BILLING_VIEW"]' })
      .where('user_id', '=', eve.userId)
      .execute()
    const { body } = await service.request('GET', '/v1/organizations', { token: eveForAda })
    assert.deepEqual(
      body.data.map(({ id, permissions }: { id: string; permissions: string[] }) => [id, permissions]),
      [[ada.organizationId, ['BILLING_VIEW']]],
    )
    assert.equal(await members(), 2)
    // Its sessions name no organization: of a user with one, it is that one.
    await db.updateTable('refresh_tokens').set({ organization_id: null }).execute()
    const { body: renewed } = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: eve.refreshToken },
    })
    assert.equal(decodeJwt(renewed.accessToken)['org'], ada.organizationId)
    await service.parts.members.remove(null, operator, ada.organizationId, eve.userId)
    assert.equal(await members(), 1)
  })
}

test('switching to an organization of others, or by a session that has ended, is refused', async (t) => {
  const service = await openTestServer(t)
  const { ada, eve, eveForAda } = await openTwo(service)
  const other = await service.parts.organizations.create(operator, 'Other')
  const attempt = ({ token }: Pick<SignedInUser, 'token'>, organizationId: string) =>
    service.request('POST', '/v1/auth/switch', { token, body: { organizationId } })
  assert.equal((await attempt(ada, eve.organizationId)).status, 403)
  assert.equal((await attempt(eve, other.id)).status, 403)
  assert.equal((await attempt(eve, 'org_4f9QmZ1xYb7KcD2Lw8Rt')).status, 404)
  assert.equal((await attempt(eve, 'x')).status, 404)
  assert.equal((await service.request('POST', '/v1/auth/switch', { ...eve, body: {} })).status, 400)
  assert.equal(await currentOf(service, ada.token), ada.organizationId)
  await service.request('POST', '/v1/auth/sign-out', { body: { refreshToken: eve.refreshToken } })
  assert.equal((await attempt({ token: eveForAda }, eve.organizationId)).status, 401)
  assert.equal((await service.request('GET', '/v1/organizations')).status, 401)
})

test('where sign-up is by invitation, that of a member of several organizations opens it', async (t) => {
  const service = await openTestServer(t, { settings: { signUp: 'invite' } })
  const { organizations, members } = service.parts
  const [first, second] = [
    await organizations.create(operator, 'A'),
    await organizations.create(operator, 'B'),
  ]
  for (const { id } of [first, second]) await members.add(operator, id, 'ada@example.org')
  const ada = await signIn(service, 'ada@example.org')
  assert.equal(ada.organizationId, second.id)
  const path = `/v1/organization/${second.id}/invitations`
  await service.request('POST', path, { ...ada, body: { email: 'new@example.org' } })
  const { token } = await nextMail(service, 'new@example.org')
  const invited = await signIn(service, 'new@example.org')
  const accepted = await service.request('POST', '/v1/invitations/accept', { ...invited, body: { token } })
  assert.equal(accepted.body.id, second.id)
  // A user without an organization needs no other token.
  assert.equal(await currentOf(service, invited.token), second.id)
})

test('switching does not make an access token last longer', async (t) => {
  const { clock, pass } = testClock()
  const service = await openTestServer(t, { clock })
  const { ada, eve } = await openTwo(service)
  const { exp } = decodeJwt(eve.token)
  pass(10 * MINUTE)
  const body = { organizationId: ada.organizationId }
  const switched = await service.request('POST', '/v1/auth/switch', { token: eve.token, body })
  assert.deepEqual([decodeJwt(switched.body.accessToken).exp, switched.body.refreshToken], [exp, undefined])
  assert.ok(switched.body.expiresIn <= 300)
})
