import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { addMember, MAP, openKeyHolder, RECORD, verbsOf } from '../../testing/key-holder.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, testOnce } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`lists show what the caller may see, newest first, and never a secret (${database})`, async (t) => {
    const service = await openKeyHolder(t, { database })
    const { ada, create, call, shared } = service
    const own = await create('/v1/api-keys/personal')
    const organizations = await create(shared)
    const viewer = await addMember(service, ada.organizationId, 'vera@example.org', ['APIKEY_VIEW'])
    const plain = await addMember(service, ada.organizationId, 'paul@example.org', [])
    const veras = await create('/v1/api-keys/personal', MAP, viewer.token)
    const ids = async (path: string, token: string) => {
      const { body, text } = await call('GET', path, undefined, token)
      for (const { secret } of [own, organizations, veras]) {
        assert.ok(!text.includes(secret) && !text.includes('secret'))
      }
      for (const record of body.data) assert.deepEqual(Object.keys(record), RECORD)
      return body.data.map((record: { id: string }) => record.id)
    }
    assert.deepEqual(await ids('/v1/api-keys/my-keys', ada.token), [own.id])
    assert.deepEqual(await ids('/v1/api-keys/accessible', ada.token), [own.id, organizations.id])
    assert.deepEqual(await ids('/v1/api-keys/accessible', viewer.token), [veras.id, organizations.id])
    assert.deepEqual(await ids('/v1/api-keys/accessible', plain.token), [])
    assert.deepEqual(await ids(shared, viewer.token), [organizations.id])
  })

  testOnce(database, `another user's key is 404 on every verb (${database})`, async (t) => {
    const service = await openKeyHolder(t, { database })
    const { ada, create, call, shared } = service
    const { id, secret } = await create('/v1/api-keys/personal')
    const organizations = await create(shared)
    const colleague = await addMember(service, ada.organizationId, 'carl@example.org', [
      'APIKEY_VIEW',
      'APIKEY_CREATE',
      'MEMBER_MANAGE',
      'BILLING_VIEW',
    ])
    const outsider = await signIn(service.service, 'eve@example.org')
    const attempts = [
      ...verbsOf(id).map((verb) => ({ ...verb, token: colleague.token })),
      ...verbsOf(id).map((verb) => ({ ...verb, token: outsider.token })),
      ...verbsOf(organizations.id).map((verb) => ({ ...verb, token: outsider.token })),
      ...verbsOf(newId('key')).map((verb) => ({ ...verb, token: ada.token })),
      ...verbsOf('nonsense').map((verb) => ({ ...verb, token: ada.token })),
      ...verbsOf('%00').map((verb) => ({ ...verb, token: ada.token })),
      ...verbsOf(`${id}%20`).map((verb) => ({ ...verb, token: ada.token })),
    ]
    for (const { method, path, body, token } of attempts) {
      const { status, body: problem } = await call(method, path, body, token)
      assert.equal(status, 404, `${method} ${path}`)
      assert.equal(problem.code, 'not-found')
    }
    assert.ok(await keyOpens(service.service, secret))
    assert.ok(await keyOpens(service.service, organizations.secret))
  })

  testOnce(
    database,
    `an organization's keys need APIKEY_VIEW to see and APIKEY_CREATE to touch (${database})`,
    async (t) => {
      const service = await openKeyHolder(t, { database })
      const { ada, create, call, shared } = service
      const { id } = await create(shared)
      const viewer = await addMember(service, ada.organizationId, 'vera@example.org', ['APIKEY_VIEW'])
      const maker = await addMember(service, ada.organizationId, 'mike@example.org', ['APIKEY_CREATE'])
      const seeing = verbsOf(id)
        .filter(({ method }) => method === 'GET')
        .concat({ method: 'GET', path: shared, body: undefined })
      const touching = verbsOf(id)
        .filter(({ method }) => method !== 'GET')
        .concat({ method: 'POST', path: shared, body: MAP })
      for (const { method, path, body } of touching) {
        const refused = await call(method, path, body, viewer.token)
        assert.equal(refused.status, 403, `${method} ${path}`)
        assert.equal(refused.body.code, 'permission-missing')
        assert.match(refused.body.detail, /APIKEY_CREATE/)
      }
      for (const { method, path } of seeing) {
        assert.equal((await call(method, path, undefined, viewer.token)).status, 200)
        const refused = await call(method, path, undefined, maker.token)
        assert.equal(refused.status, 403, `${method} ${path}`)
        assert.match(refused.body.detail, /APIKEY_VIEW/)
      }
      for (const { method, path, body } of touching) {
        assert.ok((await call(method, path, body, maker.token)).status < 300, `${method} ${path}`)
      }
    },
  )

  testOnce(
    database,
    `a member who may not publish gets no key of the organization that does (${database})`,
    async (t) => {
      const service = await openKeyHolder(t, { database })
      const { ada, create, call, shared } = service
      const writing = { name: 'Publisher', permissions: ['read', 'write:wells'] }
      const maker = await addMember(service, ada.organizationId, 'mike@example.org', ['APIKEY_CREATE'])
      // It opens nothing while the organization may not publish.
      const early = await create(shared, writing, maker.token)
      await service.service.parts.organizationAdministration.setPublishing(operator, ada.organizationId, true)
      const reader = await create(shared, MAP, maker.token)
      const publishes = { permissions: ['write'] }
      for (const [method, path, body] of [
        ['POST', shared, writing],
        ['PATCH', `/v1/api-keys/${reader.id}`, publishes],
        ['POST', `/v1/api-keys/${early.id}/rotate`, undefined],
      ] as const) {
        const refused = await call(method, path, body, maker.token)
        assert.equal(refused.status, 403, `${method} ${path}`)
        assert.match(refused.body.detail, /DATASET_PUBLISH/)
        assert.ok((await call(method, path, body, ada.token)).status < 300, `${method} ${path}`)
      }
      assert.equal(
        (await call('POST', `/v1/api-keys/${early.id}/revoke`, undefined, maker.token)).status,
        200,
      )
    },
  )

  testOnce(
    database,
    `an organization that does not exist is 404, one of others 403 (${database})`,
    async (t) => {
      const { service, call, shared } = await openKeyHolder(t, { database })
      const eve = await signIn(service, 'eve@example.org')
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', MAP],
      ] as const) {
        for (const unknown of [newId('org'), 'nonsense', '%00', newId('key')]) {
          const answer = await call(method, `/v1/api-keys/organization/${unknown}`, body)
          assert.equal(answer.status, 404, `${method} ${unknown}`)
        }
        assert.equal((await call(method, shared, body, eve.token)).status, 403)
      }
    },
  )

  testOnce(
    database,
    `an organization key outlives its maker, and a user's key stops when the user is removed (${database})`,
    async (t) => {
      const service = await openKeyHolder(t, { database })
      const { ada, call, create, shared } = service
      const maker = await addMember(service, ada.organizationId, 'mike@example.org', ['APIKEY_CREATE'])
      const organizations = await create(shared, MAP, maker.token)
      const personal = await create('/v1/api-keys/personal', MAP, maker.token)
      const session = await create('/v1/auth/session-key', undefined, maker.token)
      for (const { secret } of [organizations, personal, session]) {
        assert.ok(await keyOpens(service.service, secret))
      }
      const removal = `/v1/organization/${ada.organizationId}/members/${maker.userId}`
      assert.equal((await call('DELETE', removal)).status, 204)
      assert.ok(await keyOpens(service.service, organizations.secret))
      assert.ok(!(await keyOpens(service.service, personal.secret)))
      assert.ok(!(await keyOpens(service.service, session.secret)))

      // The key's status shows it, and stays the same when its owner comes back.
      const record = () => call('GET', `/v1/api-keys/${personal.id}`, undefined, maker.token)
      assert.equal((await record()).body.status, 'revoked')
      await addMember(service, ada.organizationId, 'mike@example.org', [])
      assert.equal((await record()).body.status, 'revoked')
      assert.ok(!(await keyOpens(service.service, personal.secret)))
    },
  )

  testOnce(database, `a key stops when its owner leaves its organization (${database})`, async (t) => {
    const service = await openKeyHolder(t, { database })
    const { ada, create } = service
    await addMember(service, ada.organizationId, 'bob@example.org', [])
    const bob = await signIn(service.service, 'bob@example.org')
    const { secret } = await create('/v1/api-keys/personal', MAP, bob.token)
    assert.ok(await keyOpens(service.service, secret))
    const { members } = service.service.parts
    await members.remove(null, operator, ada.organizationId, bob.userId)
    assert.ok(!(await keyOpens(service.service, secret)))
  })
}
