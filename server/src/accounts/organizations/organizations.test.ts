import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  testOnce,
} from '../../testing/test-server.ts'

const ALL = [
  'APIKEY_VIEW',
  'APIKEY_CREATE',
  'MEMBER_MANAGE',
  'BILLING_VIEW',
  'DATASET_PUBLISH',
  'BILLING_MANAGE',
]

/** Signs an address in as a member of the organization, added as by the operator's command. */
async function joinAs(
  service: TestServer,
  organizationId: string,
  email: string,
  permissions: MemberPermission[],
) {
  await service.parts.members.add(operator, organizationId, email, permissions)
  return signIn(service, email)
}

async function personalKey(service: TestServer, token: string): Promise<string> {
  const body = { name: 'Mine', permissions: ['read'] }
  return (await service.request('POST', '/v1/api-keys/personal', { token, body })).body.secret
}

for (const database of databaseKinds) {
  const guarantee = (name: string, run: (t: TestContext) => Promise<void>) =>
    test(`${name} (${database})`, run)
  const once = (name: string, run: (t: TestContext) => Promise<void>) => testOnce(database, name, run)

  once('an organization is 404 where it does not exist and 403 for users who are not in it', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const eve = await signIn(service, 'eve@example.org')
    const routes: [method: string, path: string, body?: object][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'New' }],
      ['GET', '/members'],
      ['PATCH', `/members/${ada.userId}`, { permissions: [] }],
      ['DELETE', `/members/${ada.userId}`],
      ['GET', '/invitations'],
      ['POST', '/invitations', { email: 'x@example.org', permissions: [] }],
      ['DELETE', '/invitations/inv_00000000000000000000'],
      ['GET', '/events'],
    ]
    for (const [method, path, body] of routes) {
      for (const unknown of ['org_00000000000000000000', 'nonsense', 'usr_00000000000000000000', '%00']) {
        const answer = await service.request(method, `/v1/organization/${unknown}${path}`, {
          token: eve.token,
          body,
        })
        assert.equal(answer.status, 404, `${method} ${unknown}${path} ${answer.text}`)
      }
      const url = `/v1/organization/${ada.organizationId}${path}`
      const foreign = await service.request(method, url, { token: eve.token, body })
      assert.deepEqual([foreign.status, foreign.body.code], [403, 'permission-missing'], `${method} ${path}`)
      assert.equal((await service.request(method, url, { body })).status, 401)
    }
    const members = await service.request('GET', `/v1/organization/${ada.organizationId}/members`, ada)
    assert.equal(members.body.data.length, 1)
  })

  once('what cannot be a member or an invitation is 404, and no row number is too large', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}`
    // Many clients send a JSON content type with every call, even without a body.
    const options = { token: ada.token, headers: { 'content-type': 'application/json' } }
    for (const name of ['x', '%00', 'usr_00000000000000000000', 'inv_00000000000000000000']) {
      assert.equal((await service.request('DELETE', `${path}/members/${name}`, options)).status, 404)
      assert.equal((await service.request('DELETE', `${path}/invitations/${name}`, options)).status, 404)
    }
    for (const list of ['events', 'ledger']) {
      for (const before of ['1e30', '99999999999999999999', '0', 'x', '1.5', '']) {
        const answer = await service.request('GET', `${path}/${list}?before=${before}`, ada)
        assert.deepEqual([answer.status, answer.body.errors?.[0]?.path], [400, 'before'], `${list} ${before}`)
      }
      const last = await service.request('GET', `${path}/${list}?before=${Number.MAX_SAFE_INTEGER}`, ada)
      assert.equal(last.status, 200)
    }
  })

  once(
    'a member without MEMBER_MANAGE reads, and changes nothing; the answer names what they lack',
    async (t) => {
      const service = await openTestServer(t, { database })
      const ada = await signIn(service, 'ada@example.org')
      const bob = await joinAs(service, ada.organizationId, 'bob@example.org', ['BILLING_VIEW'])
      const path = `/v1/organization/${ada.organizationId}`
      const record = await service.request('GET', path, bob)
      assert.deepEqual(record.body.permissions, ['BILLING_VIEW'])
      const members = await service.request('GET', `${path}/members`, bob)
      const rest = { joinedAt: '', creditLimit: null }
      assert.deepEqual(
        members.body.data.map((member: object) => ({ ...member, joinedAt: '' })),
        [
          { ...rest, userId: ada.userId, email: 'ada@example.org', permissions: ALL },
          { ...rest, userId: bob.userId, email: 'bob@example.org', permissions: ['BILLING_VIEW'] },
        ],
      )
      const refused = [
        await service.request('PATCH', path, { ...bob, body: { name: 'Mine' } }),
        await service.request('PATCH', `${path}/members/${bob.userId}`, {
          ...bob,
          body: { permissions: [] },
        }),
        await service.request('DELETE', `${path}/members/${ada.userId}`, bob),
        await service.request('GET', `${path}/invitations`, bob),
        await service.request('POST', `${path}/invitations`, { ...bob, body: { email: 'x@example.org' } }),
        await service.request('GET', `${path}/events`, bob),
      ]
      for (const answer of refused) {
        assert.equal(answer.status, 403)
        assert.match(answer.body.detail, /MEMBER_MANAGE/)
      }
    },
  )

  once('a member cannot grant what they do not hold', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await joinAs(service, ada.organizationId, 'bob@example.org', ['MEMBER_MANAGE', 'APIKEY_VIEW'])
    const cyd = await joinAs(service, ada.organizationId, 'cyd@example.org', ['BILLING_VIEW'])
    const path = `/v1/organization/${ada.organizationId}`
    const grant = (userId: string, permissions: string[]) =>
      service.request('PATCH', `${path}/members/${userId}`, { token: bob.token, body: { permissions } })
    for (const userId of [bob.userId, cyd.userId]) {
      const refused = await grant(userId, ['MEMBER_MANAGE', 'APIKEY_CREATE'])
      assert.equal(refused.status, 403)
      assert.match(refused.body.detail, /APIKEY_CREATE/)
    }
    const invited = await service.request('POST', `${path}/invitations`, {
      token: bob.token,
      body: { email: 'dan@example.org', permissions: ['BILLING_VIEW'] },
    })
    assert.equal(invited.status, 403)
    assert.match(invited.body.detail, /BILLING_VIEW/)
    // Permissions that another member granted before may stay.
    const granted = await grant(cyd.userId, ['BILLING_VIEW', 'APIKEY_VIEW'])
    assert.deepEqual([granted.status, granted.body.permissions], [200, ['APIKEY_VIEW', 'BILLING_VIEW']])
  })

  guarantee(
    'the last member with MEMBER_MANAGE can neither leave nor lose it, also at the same instant',
    async (t) => {
      const service = await openTestServer(t, { database })
      const ada = await signIn(service, 'ada@example.org')
      const bob = await joinAs(service, ada.organizationId, 'bob@example.org', ['MEMBER_MANAGE'])
      await joinAs(service, ada.organizationId, 'cyd@example.org', [])
      const path = `/v1/organization/${ada.organizationId}/members`
      const answers = await Promise.all([
        service.request('DELETE', `${path}/${ada.userId}`, ada),
        service.request('PATCH', `${path}/${bob.userId}`, { token: bob.token, body: { permissions: [] } }),
      ])
      const statuses = answers.map((answer) => answer.status).sort()
      assert.ok(statuses[1] === 409 && statuses[0]! < 300, String(statuses))
      assert.equal(answers.find((answer) => answer.status === 409)!.body.code, 'last-member-manager')
      const { db } = service.parts.database
      const rows = await db
        .selectFrom('members')
        .selectAll()
        .where('organization_id', '=', ada.organizationId)
        .execute()
      assert.equal(rows.filter((row) => row.permissions.includes('MEMBER_MANAGE')).length, 1)
      const alone = await signIn(service, 'dan@example.org')
      const leave = await service.request(
        'DELETE',
        `/v1/organization/${alone.organizationId}/members/${alone.userId}`,
        alone,
      )
      assert.equal(leave.status, 409)
    },
  )

  once('a user whom the operator adds to another organization stays in the one before', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    await joinAs(service, ada.organizationId, 'bob@example.org', [])
    const other = await service.parts.organizations.create(operator, 'Other')
    await service.parts.members.add(operator, other.id, 'bob@example.org')
    const added = await service.parts.members.add(operator, other.id, 'ada@example.org')
    assert.deepEqual(added.permissions, [])
    const { body } = await service.request('GET', `/v1/organization/${ada.organizationId}/members`, ada)
    assert.equal(body.data.length, 2)
    const [listed] = await service.parts.administration.users({ id: ada.userId })
    assert.deepEqual(
      listed!.organizations.map(({ id, permissions }) => [id, permissions.length]),
      [
        [ada.organizationId, MEMBER_PERMISSIONS.length],
        [other.id, 0],
      ],
    )
  })

  guarantee(
    'a user who leaves has no organization until they make one; its first credits are given once',
    async (t) => {
      const service = await openTestServer(t, { database, settings: { newOrganizationCredits: 10 } })
      const ada = await signIn(service, 'ada@example.org')
      const ledger = await service.request('GET', `/v1/organization/${ada.organizationId}/ledger`, ada)
      const [first] = ledger.body.data
      assert.deepEqual(
        [first.kind, first.amount, first.member],
        ['grant', 10, null],
        'the operator gave them',
      )
      await joinAs(service, ada.organizationId, 'bob@example.org', ['MEMBER_MANAGE'])
      const early = await service.request('POST', '/v1/organization', { ...ada, body: { name: 'Second' } })
      assert.deepEqual([early.status, early.body.code], [409, 'conflict'])
      const left = await service.request(
        'DELETE',
        `/v1/organization/${ada.organizationId}/members/${ada.userId}`,
        ada,
      )
      assert.equal(left.status, 204)
      const again = await signIn(service, 'ada@example.org')
      assert.equal(again.organizationId, '')
      const none = await service.request('GET', '/v1/organization/me', again)
      assert.equal(none.status, 404)
      assert.match(none.body.detail, /no organization/)
      const gone = await service.request('GET', `/v1/organization/${ada.organizationId}`, again)
      assert.equal(gone.status, 403)
      const made = await Promise.all(
        Array.from({ length: 3 }, () =>
          service.request('POST', '/v1/organization', { token: again.token, body: { name: ' Second ' } }),
        ),
      )
      assert.deepEqual(made.map((answer) => answer.status).sort(), [201, 409, 409])
      const record = made.find((answer) => answer.status === 201)!.body
      assert.deepEqual([record.name, record.credits.balance, record.permissions], ['Second', 0, ALL])
    },
  )

  once('where sign-up is by invitation, users make no organizations', async (t) => {
    const service = await openTestServer(t, {
      database,
      settings: { signUp: 'invite', admins: ['ada@example.org'] },
    })
    const ada = await signIn(service, 'ada@example.org')
    assert.equal(ada.organizationId, '')
    const refused = await service.request('POST', '/v1/organization', { ...ada, body: { name: 'Mine' } })
    assert.equal(refused.status, 403)
    const me = await service.request('GET', '/v1/auth/me', ada)
    assert.deepEqual([me.body.administrator, me.body.organization], [true, null])
  })

  once('bad input of every kind is 400 with the field named, and changes nothing', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}`
    const before = await service.request('GET', path, ada)
    const bad: [method: string, url: string, body: unknown, field: string][] = [
      ['PATCH', path, {}, '/name'],
      ['PATCH', path, { name: '   ' }, '/name'],
      ['PATCH', path, { name: 'x'.repeat(101) }, '/name'],
      ['PATCH', path, { name: 'two\nlines' }, '/name'],
      ['PATCH', path, { name: 'half \ud800' }, '/name'],
      ['PATCH', path, { name: null }, '/name'],
      ['PATCH', path, { name: 'Fine', credits: 1000 }, '/credits'],
      ['PATCH', `${path}/members/${ada.userId}`, { permissions: ['ROOT'] }, '/permissions/0'],
      ['PATCH', `${path}/members/${ada.userId}`, { permissions: 'MEMBER_MANAGE' }, '/permissions'],
      ['PATCH', `${path}/members/${ada.userId}`, { permissions: [], admin: true }, '/admin'],
      ['POST', `${path}/invitations`, { permissions: [] }, '/email'],
      ['POST', `${path}/invitations`, { email: 'x', permissions: [] }, '/email'],
      ['POST', `${path}/invitations`, { email: 'x@example.org', permissions: ['ROOT'] }, '/permissions/0'],
      ['POST', '/v1/invitations/accept', {}, '/token'],
      ['POST', '/v1/invitations/accept', { token: 5 }, '/token'],
      ['POST', '/v1/organization', { name: '' }, '/name'],
      ['GET', `${path}/events?limit=0`, undefined, 'limit'],
      ['GET', `${path}/events?before=x`, undefined, 'before'],
      ['GET', `${path}/events?colour=red`, undefined, 'colour'],
    ]
    for (const [method, url, body, field] of bad) {
      const token = ada.token
      const answer = await service.request(method, url, { token, body })
      assert.equal(answer.status, 400, `${method} ${url} ${answer.text}`)
      const paths = answer.body.errors.map((error: { path: string }) => error.path)
      assert.deepEqual(paths, [field], answer.text)
    }
    assert.deepEqual((await service.request('GET', path, ada)).body, before.body)
    assert.deepEqual((await service.request('GET', `${path}/invitations`, ada)).body, { data: [] })
  })

  once('a user’s key stops when the user is removed; an organization key stays', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const bob = await joinAs(service, ada.organizationId, 'bob@example.org', ['APIKEY_CREATE'])
    const own = await personalKey(service, bob.token)
    const shared = await service.request('POST', `/v1/api-keys/organization/${ada.organizationId}`, {
      token: bob.token,
      body: { name: 'Shared', permissions: ['read'] },
    })
    assert.deepEqual(
      [await keyOpens(service, own), await keyOpens(service, shared.body.secret)],
      [true, true],
    )
    const path = `/v1/organization/${ada.organizationId}/members/${bob.userId}`
    assert.equal((await service.request('DELETE', path, ada)).status, 204)
    assert.deepEqual(
      [await keyOpens(service, own), await keyOpens(service, shared.body.secret)],
      [false, true],
    )
    assert.equal((await service.request('DELETE', path, ada)).status, 404)
  })

  guarantee('events tell who did what and from where, newest first, a page at a time', async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}`
    await service.request('PATCH', path, { ...ada, body: { name: 'Survey' } })
    const all = await service.request('GET', `${path}/events`, ada)
    assert.deepEqual(
      all.body.data.map((event: { action: string }) => event.action),
      ['organization.renamed', 'session.started', 'member.added', 'organization.created'],
    )
    assert.equal(all.body.next, null)
    const [newest] = all.body.data
    assert.deepEqual(Object.keys(newest), [
      'id',
      'at',
      'actor',
      'actorName',
      'action',
      'subject',
      'subjectName',
      'detail',
      'address',
      'requestId',
    ])
    assert.deepEqual(
      [newest.actor, newest.subject, newest.detail, newest.address],
      [`user:${ada.userId}`, `organization:${ada.organizationId}`, { name: 'Survey' }, '127.0.0.1'],
    )
    const paged = []
    for (let next: number | null = null, more = true; more; more = next !== null) {
      const query: string = next === null ? 'limit=3' : `limit=3&before=${next}`
      const page = await service.request('GET', `${path}/events?${query}`, ada)
      paged.push(...page.body.data)
      next = page.body.next
    }
    assert.deepEqual(paged, all.body.data)
  })
}

test('a removed member’s key is refused on every node at once', { skip: lacks('postgres') }, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const [one, two] = [await openTestServer(t, { databaseUrl }), await openTestServer(t, { databaseUrl })]
  const ada = await signIn(one, 'ada@example.org')
  const bob = await joinAs(one, ada.organizationId, 'bob@example.org', [])
  const own = await personalKey(one, bob.token)
  assert.deepEqual([await keyOpens(one, own), await keyOpens(two, own)], [true, true])
  await one.request('DELETE', `/v1/organization/${ada.organizationId}/members/${bob.userId}`, ada)
  assert.deepEqual([await keyOpens(two, own), await keyOpens(one, own)], [false, false])
})
