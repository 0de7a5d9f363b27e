import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MEMBER_PERMISSIONS } from '@wayleave/contract/permissions'
import { DAY } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { askForLink, nextMail, type SignedInUser, signIn, untakenMail } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer, testOnce } from '../../testing/test-server.ts'

/** Invites an address and returns the invitation with the token from its mail. */
async function invite(service: TestServer, by: SignedInUser, email: string, permissions: string[] = []) {
  const answer = await service.request('POST', `/v1/organization/${by.organizationId}/invitations`, {
    token: by.token,
    body: { email, permissions },
  })
  assert.equal(answer.status, 201, answer.text)
  const mail = await nextMail(service, email)
  assert.equal(mail.link, `${service.url}/invitation#${mail.token}`)
  return { ...answer.body, token: mail.token, source: mail.source }
}

const accept = (service: TestServer, by: SignedInUser, token: string) =>
  service.request('POST', '/v1/invitations/accept', { token: by.token, body: { token } })

for (const database of databaseKinds) {
  const guarantee = (name: string, run: (t: TestContext) => Promise<void>) =>
    test(`${name} (${database})`, run)
  const once = (name: string, run: (t: TestContext) => Promise<void>) => testOnce(database, name, run)

  guarantee(
    'a user who accepts an invitation stays in the organization before, and their keys work on',
    async (t) => {
      const service = await openTestServer(t, { database })
      const ada = await signIn(service, 'ada@example.org')
      const bob = await signIn(service, 'bob@example.org')
      const body = { name: 'Mine', permissions: ['read'] }
      const { secret } = (await service.request('POST', '/v1/api-keys/personal', { token: bob.token, body }))
        .body
      assert.equal(await keyOpens(service, secret), true)

      const invitation = await invite(service, ada, ' Bob@Example.org', ['APIKEY_VIEW'])
      assert.deepEqual(Object.keys(invitation), [
        'id',
        'email',
        'permissions',
        'invitedBy',
        'createdAt',
        'expiresAt',
        'token',
        'source',
      ])
      assert.deepEqual(
        [invitation.email, invitation.permissions, invitation.invitedBy],
        ['bob@example.org', ['APIKEY_VIEW'], ada.userId],
      )
      const listed = await service.request('GET', `/v1/organization/${ada.organizationId}/invitations`, ada)
      assert.deepEqual(
        listed.body.data.map((row: { id: string }) => row.id),
        [invitation.id],
      )
      assert.ok(!listed.text.includes(invitation.token))

      const accepted = await accept(service, bob, invitation.token)
      assert.equal(accepted.status, 200)
      assert.deepEqual([accepted.body.id, accepted.body.permissions], [ada.organizationId, ['APIKEY_VIEW']])
      assert.equal(await keyOpens(service, secret), true)
      assert.equal((await accept(service, bob, invitation.token)).body.code, 'invitation-invalid')
      const left = await service.parts.organizations.find(bob.organizationId)
      assert.equal(left.name, "bob's organization")
      const empty = await service.request('GET', `/v1/organization/${ada.organizationId}/invitations`, ada)
      assert.deepEqual(empty.body, { data: [] })
    },
  )

  once('an invited person sees who invites, signs up without an organization, and joins', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const { token, expiresAt } = await invite(service, ada, 'new@example.org', ['APIKEY_VIEW'])
    const preview = (body: object) => service.request('POST', '/v1/invitations/preview', { body })
    const seen = await preview({ token })
    assert.deepEqual(seen.body, {
      organizationName: "ada's organization",
      invitedBy: 'ada@example.org',
      email: 'new@example.org',
      permissions: ['APIKEY_VIEW'],
      expiresAt,
    })
    assert.equal(seen.headers.get('cache-control'), 'no-store')
    assert.equal((await preview({ token: `${token}x` })).body.code, 'invitation-invalid')
    const { token: linkToken } = await askForLink(service, 'new@example.org')
    const { accessToken } = (await service.request('POST', '/v1/auth/token', { body: { token: linkToken } }))
      .body
    const me = await service.request('GET', '/v1/auth/me', { token: accessToken })
    assert.equal(me.body.organization, null)
    const joined = await service.request('POST', '/v1/invitations/accept', {
      token: accessToken,
      body: { token },
    })
    assert.deepEqual([joined.body.id, joined.body.permissions], [ada.organizationId, ['APIKEY_VIEW']])
    assert.equal((await preview({ token })).body.code, 'invitation-invalid')
  })

  guarantee('an invitation accepted many times at the same instant is accepted once', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const { token } = await invite(service, ada, 'bob@example.org')
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(service, bob, token)))
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409, 409, 409, 409])
  })

  once(
    'an invitation is of use to its own address alone, until it is withdrawn, replaced or old',
    async (t) => {
      const { clock, pass } = testClock()
      const service = await openTestServer(t, { database, clock })
      const ada = await signIn(service, 'ada@example.org')
      const eve = await signIn(service, 'eve@example.org')
      const bob = await signIn(service, 'bob@example.org')
      const first = await invite(service, ada, 'bob@example.org')
      const foreign = await accept(service, eve, first.token)
      assert.deepEqual([foreign.status, foreign.body.code], [409, 'invitation-invalid'])
      assert.ok(!foreign.text.includes('bob@example.org'))
      assert.equal((await accept(service, eve, 'x'.repeat(43))).status, 409)

      const second = await invite(service, ada, 'bob@example.org')
      assert.equal((await accept(service, bob, first.token)).status, 409)
      const path = `/v1/organization/${ada.organizationId}/invitations`
      assert.equal((await service.request('DELETE', `${path}/${second.id}`, ada)).status, 204)
      assert.equal((await service.request('DELETE', `${path}/${second.id}`, ada)).status, 404)
      assert.equal((await accept(service, bob, second.token)).status, 409)

      const third = await invite(service, ada, 'bob@example.org')
      pass(7 * DAY)
      const later = await signIn(service, 'bob@example.org')
      assert.equal((await accept(service, later, third.token)).status, 409)
      assert.equal((await service.request('GET', '/v1/organization/me', later)).body.id, bob.organizationId)
    },
  )

  once(
    'an invited address signs up where sign-up is by invitation, into that organization alone',
    async (t) => {
      const service = await openTestServer(t, { database, settings: { signUp: 'invite' } })
      const { id } = await service.parts.organizations.create(operator, 'Survey')
      await service.parts.members.add(operator, id, 'ada@example.org')
      const ada = await signIn(service, 'ada@example.org')
      const { token } = await invite(service, ada, 'new@example.org', ['BILLING_VIEW'])
      const invited = await signIn(service, 'new@example.org')
      assert.equal(invited.organizationId, '')
      assert.equal((await accept(service, invited, token)).body.id, id)
    },
  )

  guarantee('to accept and to be invited again at the same instant never wait for each other', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const path = `/v1/organization/${ada.organizationId}`
    const body = { email: 'bob@example.org' }
    for (let round = 0; round < 8; round++) {
      const { token } = await invite(service, ada, 'bob@example.org')
      const answers = await Promise.all([
        accept(service, bob, token),
        service.request('POST', `${path}/invitations`, { ...ada, body }),
        accept(service, bob, token),
      ])
      const [first, again, second] = answers.map((answer) => answer.status)
      assert.ok([first, second].filter((status) => status === 200).length <= 1)
      assert.ok(
        [first, second].every((status) => status === 200 || status === 409),
        `${first} ${second}`,
      )
      assert.ok(again === 201 || again === 409, String(again))
      if (again === 201) await nextMail(service, 'bob@example.org')
      await service.request('DELETE', `${path}/members/${bob.userId}`, ada)
    }
  })

  guarantee('an invitation ends with the rights of its inviter', async (t) => {
    const service = await openTestServer(t, { database, settings: { signUp: 'invite' } })
    const { members, organizations } = service.parts
    const organizationId = (await organizations.create(operator, 'Survey')).id
    await members.add(operator, organizationId, 'ada@example.org')
    const all = (await members.add(operator, organizationId, 'eve@example.org', MEMBER_PERMISSIONS)).userId
    const ada = await signIn(service, 'ada@example.org')
    const eve = await signIn(service, 'eve@example.org')
    await members.add(operator, (await organizations.create(operator, 'Other')).id, 'bob@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const member = `/v1/organization/${organizationId}/members/${all}`
    const open = async () =>
      (await service.request('GET', `/v1/organization/${organizationId}/invitations`, ada)).body.data.length
    const endings = {
      demotion: () => service.request('PATCH', member, { ...ada, body: { permissions: ['MEMBER_MANAGE'] } }),
      'demotion by the operator': () => members.add(operator, organizationId, 'eve@example.org', []),
      leaving: () => service.request('DELETE', member, eve),
      removal: () => service.request('DELETE', member, ada),
    }
    for (const [name, end] of Object.entries(endings)) {
      await members.add(operator, organizationId, 'eve@example.org', MEMBER_PERMISSIONS)
      const { token } = await invite(service, eve, 'bob@example.org', ['BILLING_VIEW'])
      const unknown = await invite(service, eve, 'new@example.org', ['BILLING_VIEW'])
      assert.ok(unknown.id)
      assert.equal(await open(), 2, name)
      await end()
      assert.equal(await open(), 0, name)
      const refused = await accept(service, bob, token)
      assert.deepEqual([refused.status, refused.body.code], [409, 'invitation-invalid'], name)
    }
    // Nor does such an invitation open the sign-up.
    await service.request('POST', '/v1/auth/magic-link', { body: { email: 'new@example.org' } })
    await service.parts.identity.signIn.close()
    assert.equal(await untakenMail(service, 'new@example.org'), null)

    // Rights that an invitation does not need may end.
    await members.add(operator, organizationId, 'eve@example.org', MEMBER_PERMISSIONS)
    const { token } = await invite(service, eve, 'bob@example.org', ['BILLING_VIEW'])
    const body = { permissions: ['MEMBER_MANAGE', 'BILLING_VIEW'] }
    assert.equal((await service.request('PATCH', member, { ...ada, body })).status, 200)
    assert.equal((await accept(service, bob, token)).status, 200)
  })

  guarantee('an invitation from before its inviter’s rights ended is checked when accepted', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const { token } = await invite(service, ada, 'bob@example.org', ['BILLING_VIEW'])
    const { db } = service.parts.database
    const held = (permissions: string[]) =>
      db
        .updateTable('members')
        .set({ permissions: JSON.stringify(permissions) })
        .where('user_id', '=', ada.userId)
        .execute()
    for (const rest of [[], ['MEMBER_MANAGE'], ['BILLING_VIEW']]) {
      await held(rest)
      assert.equal((await accept(service, bob, token)).body.code, 'invitation-invalid')
    }
    await held(['MEMBER_MANAGE', 'BILLING_VIEW'])
    assert.equal((await accept(service, bob, token)).status, 200)
  })

  guarantee('a suspended organization invites nobody, and nobody joins it until it is resumed', async (t) => {
    const service = await openTestServer(t, { database, settings: { signUp: 'invite' } })
    const { members, organizations } = service.parts
    const { id } = await organizations.create(operator, 'Survey')
    await members.add(operator, id, 'ada@example.org')
    const ada = await signIn(service, 'ada@example.org')
    const { token } = await invite(service, ada, 'new@example.org')
    const suspension = (suspended_at: string | null) =>
      service.parts.database.db
        .updateTable('organizations')
        .set({ suspended_at })
        .where('id', '=', id)
        .execute()
    await suspension('2026-01-01T00:00:00.000Z')
    const body = { email: 'bob@example.org' }
    const refused = await service.request('POST', `/v1/organization/${id}/invitations`, { ...ada, body })
    assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
    assert.equal(await untakenMail(service, 'bob@example.org'), null)
    const preview = () => service.request('POST', '/v1/invitations/preview', { body: { token } })
    assert.equal((await preview()).body.code, 'invitation-invalid')
    // Nor does such an invitation open the sign-up.
    await service.request('POST', '/v1/auth/magic-link', { body: { email: 'new@example.org' } })
    await service.parts.identity.signIn.close()
    assert.equal(await untakenMail(service, 'new@example.org'), null)

    await suspension(null)
    assert.equal((await preview()).status, 200)
    const joined = await signIn(service, 'new@example.org')
    await suspension('2026-01-01T00:00:00.000Z')
    assert.equal((await accept(service, joined, token)).body.code, 'invitation-invalid')
    await suspension(null)
    assert.equal((await accept(service, joined, token)).status, 200)
  })

  guarantee('invitations to an address cost it no sign-in mail', async (t) => {
    const service = await openTestServer(t, { database, settings: { signInRate: 2 } })
    const eve = await signIn(service, 'eve@example.org')
    const path = `/v1/organization/${eve.organizationId}/invitations`
    for (const status of [201, 201, 429]) {
      const answer = await service.request('POST', path, { ...eve, body: { email: 'bob@example.org' } })
      assert.equal(answer.status, status)
    }
    await nextMail(service, 'bob@example.org')
    await nextMail(service, 'bob@example.org')
    assert.equal((await signIn(service, 'bob@example.org')).userId.slice(0, 4), 'usr_')
  })

  once(
    'no organization keeps others from inviting an address, and repeated invitations are limited',
    async (t) => {
      const service = await openTestServer(t, { database, settings: { signInRate: 3 } })
      const inviteBob = async (user: SignedInUser) => {
        const path = `/v1/organization/${user.organizationId}/invitations`
        return (await service.request('POST', path, { ...user, body: { email: 'bob@example.org' } })).status
      }
      const statuses: number[] = []
      for (const name of ['eve', 'eva', 'evi', 'ada']) {
        const user = await signIn(service, `${name}@example.org`)
        statuses.push(await inviteBob(user), await inviteBob(user))
      }
      assert.deepEqual(statuses, [201, 201, 201, 201, 201, 201, 201, 429])
    },
  )

  once('a member is not invited again, and invitations to one address are limited', async (t) => {
    const service = await openTestServer(t, { database, settings: { signInRate: 2 } })
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}/invitations`
    const own = await service.request('POST', path, { ...ada, body: { email: 'ada@example.org' } })
    assert.deepEqual([own.status, own.body.code], [409, 'conflict'])
    const statuses = []
    for (let i = 0; i < 3; i++) {
      statuses.push(
        (await service.request('POST', path, { ...ada, body: { email: 'bob@example.org' } })).status,
      )
    }
    assert.deepEqual(statuses, [201, 201, 429])
  })
}

test('a name in any script arrives in an invitation, and can bring no markup or header into it', async (t) => {
  const service = await openTestServer(t)
  const ada = await signIn(service, 'ada@example.org')
  const name = 'Vermessung Köln <b>"&"</b>'
  await service.request('PATCH', `/v1/organization/${ada.organizationId}`, { ...ada, body: { name } })
  const { source, token } = await invite(service, ada, 'bob@example.org')
  assert.match(source, /^Subject: =\?UTF-8\?/m)
  assert.match(source, /^Content-Transfer-Encoding: quoted-printable\r$/m)
  assert.match(source, new RegExp(`^${service.url}/invitation#${token}\\r$`, 'm'))
  const html = source.slice(source.indexOf('<!doctype html>'))
  assert.ok(html.includes('K&#246;ln b &#34;&#38;&#34; b'), html)
  assert.ok(!service.logLines.join('\n').includes(token))
  assert.equal(await untakenMail(service, 'bob@example.org'), null)
})
