import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { addMember } from '../../testing/key-holder.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { askForLink, nextMail, signIn, untakenMail } from '../../testing/sign-in.ts'
import {
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  type TestServer,
} from '../../testing/test-server.ts'

const ROOT = 'root@example.org'

async function open(t: TestContext, database: DatabaseKind) {
  const service = await openTestServer(t, { database, settings: { admins: [ROOT] } })
  const root = await signIn(service, ROOT)
  const call = (method: string, path: string, body?: unknown) =>
    service.request(method, `/v1/admin${path}`, { token: root.token, body })
  return { service, root, call }
}

const isSignedIn = async (service: TestServer, token: string) =>
  (await service.request('GET', '/v1/auth/me', { token })).status === 200

for (const database of databaseKinds) {
  test(`sessions are listed and ended, and a blocked user is out on every node (${database})`, async (t) => {
    const { service, call } = await open(t, database)
    const other =
      database === 'postgres'
        ? await openTestServer(t, {
            dataDir: service.config.dataDir,
            databaseUrl: service.config.databaseUrl!,
            settings: { admins: [ROOT] },
          })
        : service
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
    const organizationKey = await createKey(service, ada, ['read'], 'organization')
    const again = await signIn(service, 'ada@example.org')
    const path = `/users/${ada.userId}`
    const { data: sessions } = (await call('GET', `${path}/sessions`)).body
    assert.equal(sessions.length, 2)
    assert.deepEqual(Object.keys(sessions[0]), ['id', 'startedAt', 'refreshedAt', 'expiresAt'])
    assert.equal((await call('DELETE', `${path}/sessions/${sessions[0].id}`)).status, 204)
    assert.equal((await call('DELETE', `${path}/sessions/${sessions[0].id}`)).status, 404)
    const alive = await Promise.all([isSignedIn(service, ada.token), isSignedIn(service, again.token)])
    assert.deepEqual(alive.sort(), [false, true])
    assert.equal((await call('DELETE', `${path}/sessions`)).status, 204)
    assert.equal(await isSignedIn(service, again.token), false)

    const last = await signIn(service, 'ada@example.org')
    const { body: sessionKey } = await service.request('POST', '/v1/auth/session-key', { token: last.token })
    const pending = await askForLink(service, 'ada@example.org')
    for (const secret of [ada.key, sessionKey.secret]) assert.ok(await keyOpens(other, secret))
    const blocked = await call('POST', `${path}/block`, { reason: 'Shares keys' })
    assert.deepEqual([blocked.status, blocked.body.blockReason], [200, 'Shares keys'])
    assert.ok(blocked.body.blockedAt)
    for (const node of [service, other]) {
      for (const secret of [ada.key, sessionKey.secret]) assert.equal(await keyOpens(node, secret), false)
      assert.ok(await keyOpens(node, organizationKey.secret), 'the organization’s key')
      assert.equal(await isSignedIn(node, last.token), false)
    }
    const redeemed = await service.request('POST', '/v1/auth/token', { body: { token: pending.token } })
    assert.deepEqual([redeemed.status, redeemed.body.code], [401, 'sign-in-failed'])
    const refreshed = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: last.refreshToken },
    })
    assert.equal(refreshed.status, 401)
    await service.request('POST', '/v1/auth/magic-link', { body: { email: 'ada@example.org' } })
    await service.request('POST', '/v1/auth/magic-link', { body: { email: 'new@example.org' } })
    while (!(await untakenMail(service, 'new@example.org')));
    assert.equal(await untakenMail(service, 'ada@example.org'), null, 'no mail to a blocked user')

    assert.equal((await runCommand(service.config, 'user', 'unblock', ada.userId)).code, 0)
    assert.ok(await keyOpens(service, ada.key))
    assert.ok(await isSignedIn(service, (await signIn(service, 'ada@example.org')).token))
  })

  test(`a deleted user is gone, and the ledger and the events stay without the address (${database})`, async (t) => {
    const { service, call } = await open(t, database)
    const { db } = service.parts.database
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'], credits: 7 })
    const organizationKey = await createKey(service, ada, ['read'], 'organization')
    await service.request('POST', `/v1/organization/${ada.organizationId}/invitations`, {
      token: ada.token,
      body: { email: 'carl@example.org', permissions: [] },
    })
    const bob = await addMember({ service }, ada.organizationId, 'bob@example.org', [])
    const path = `/users/${ada.userId}`
    const refused = await call('DELETE', path)
    assert.deepEqual([refused.status, refused.body.code], [409, 'last-member-manager'])
    assert.ok(await keyOpens(service, ada.key), 'nothing was changed')
    await service.parts.members.remove(null, operator, ada.organizationId, bob.userId)
    // Another organization has invited the user, and its events name the address.
    const eve = await openAccount(service, 'eve@example.org')
    await service.request('POST', `/v1/organization/${eve.organizationId}/invitations`, {
      token: eve.token,
      body: { email: 'ada@example.org', permissions: [] },
    })
    await nextMail(service, 'ada@example.org')
    const counts = async () => {
      const events = await db.selectFrom('events').select('id').execute()
      return { events: events.length, ledger: await db.selectFrom('ledger').selectAll().execute() }
    }
    const before = await counts()
    assert.equal((await call('DELETE', path)).status, 204)
    assert.equal((await call('DELETE', path)).status, 404)
    const after = await counts()
    assert.deepEqual(after.ledger, before.ledger)
    assert.ok(after.events > before.events)
    for (const secret of [ada.key, organizationKey.secret])
      assert.equal(await keyOpens(service, secret), false)
    assert.equal(await isSignedIn(service, ada.token), false)
    const tables = [
      'users',
      'events',
      'invitations',
      'sign_in_links',
      'organizations',
      'api_keys',
      'members',
    ] as const
    for (const table of tables) {
      const rows = JSON.stringify(await db.selectFrom(table).selectAll().execute())
      assert.doesNotMatch(rows, /ada@example|ada's organization/, table)
      if (table !== 'events') assert.doesNotMatch(rows, new RegExp(ada.userId), table)
    }
    const events = await db
      .selectFrom('events')
      .selectAll()
      .where('actor', '=', `user:${ada.userId}`)
      .execute()
    assert.ok(events.length > 0)
    assert.deepEqual(new Set(events.map(({ address }) => address)), new Set([null]))
    assert.equal(
      (await db.selectFrom('invitations').selectAll().execute()).length,
      0,
      'void, and to the user',
    )
    const revoked = await db.selectFrom('revoked_secrets').select('key_id').execute()
    assert.deepEqual(revoked.map(({ key_id }) => key_id).sort(), [ada.keyId, organizationKey.id].sort())
    assert.notEqual((await signIn(service, 'ada@example.org')).userId, ada.userId)
  })
}

test('only administrators reach the operator’s routes, and none can block an administrator', async (t) => {
  const { service, root, call } = await open(t, 'sqlite')
  const ada = await openAccount(service, 'ada@example.org')
  const bob = await addMember({ service }, ada.organizationId, 'bob@example.org', ['MEMBER_MANAGE'])
  const platform = await service.parts.keys.createPlatform(operator, {
    name: 'P',
    permissions: ['read', 'write'],
  })
  const routes: [method: string, path: string, body?: unknown][] = [
    ['GET', `/users/${ada.userId}`],
    ['DELETE', `/users/${ada.userId}`],
    ['POST', `/users/${ada.userId}/block`, { reason: 'x' }],
    ['POST', `/users/${ada.userId}/unblock`],
    ['GET', `/users/${ada.userId}/sessions`],
    ['DELETE', `/users/${ada.userId}/sessions`],
    ['DELETE', `/users/${ada.userId}/sessions/${newId('fam')}`],
    ['GET', `/users/${ada.userId}/data`],
    ['DELETE', `/users/${ada.userId}/sign-on`],
    ['GET', '/address-blocks'],
    ['POST', '/address-blocks', { network: '192.0.2.1', reason: 'x' }],
    ['DELETE', `/address-blocks/${newId('blk')}`],
    ['POST', '/keys/find', { secret: ada.key, revoke: true }],
    ['GET', '/events'],
  ]
  const registered = service.routes.rows.filter(
    ({ method, url }) =>
      method !== 'HEAD' && /\/admin\/(users\/|address-blocks|events$|keys\/find$)/.test(url),
  )
  assert.equal(registered.length, routes.length)
  for (const [method, path, body] of routes) {
    for (const [caller, status] of [
      [{}, 401],
      [{ key: platform.secret }, 403],
      [{ key: ada.key }, 403],
      [{ token: ada.token }, 403],
      [{ token: bob.token }, 403],
    ] as const) {
      const answer = await service.request(method, `/v1/admin${path}`, { ...caller, body })
      assert.equal(answer.status, status, `${method} ${path}`)
    }
  }
  assert.ok(await keyOpens(service, ada.key))
  assert.deepEqual(await service.parts.addressBlocks.list(), [])
  for (const [method, path, body] of routes.filter(([, path]) => path.startsWith('/users/'))) {
    for (const unknown of [newId('usr'), 'x', '%00']) {
      const { status } = await call(method, path.replace(ada.userId, unknown), body)
      assert.equal(status, 404, `${method} ${path}`)
    }
  }
  for (const [method, path] of [
    ['DELETE', `/users/${root.userId}`],
    ['POST', `/users/${root.userId}/block`],
  ] as const) {
    const { status } = await call(method, path, method === 'POST' ? { reason: 'x' } : undefined)
    assert.equal(status, 409)
  }
  for (const body of [{}, { reason: '' }, { reason: 'a\nb' }, { reason: 'x'.repeat(501) }, { reason: 1 }]) {
    assert.equal((await call('POST', `/users/${ada.userId}/block`, body)).status, 400)
  }
})

test('the commands of users do what the routes do', async (t) => {
  const service = await openTestServer(t)
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const run = (...args: string[]) => runCommand(service.config, 'user', ...args)
  const { json } = await run('sessions', ada.userId, '--json')
  assert.equal(json.data.length, 1)
  assert.match(
    (await run('sign-out', ada.userId, '--session', json.data[0].id)).stdout,
    /^Ended 1 session of /,
  )
  assert.equal(await isSignedIn(service, ada.token), false)
  assert.equal((await run('block', ada.userId)).code, 2, 'without a reason')
  assert.equal((await run('block', ada.userId, '--reason', 'Leak')).code, 0)
  assert.equal(await keyOpens(service, ada.key), false)
  assert.match((await run('list')).stdout, /blocked: Leak/)
  assert.equal((await run('delete', ada.userId)).code, 0)
  assert.equal((await run('delete', ada.userId)).code, 1)
  assert.equal((await run('sessions', ada.userId)).code, 1)
})
