import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, plus } from '../../base/clock.ts'
import { CREATED, MAP, openKeyHolder, RECORD, verbsOf } from '../../testing/key-holder.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { databaseKinds, testOnce } from '../../testing/test-server.ts'
import { deleteSessionKeysExpiredBefore } from './store.ts'

for (const database of databaseKinds) {
  test(`a key is made, seen, changed, rotated, revoked and deleted (${database})`, async (t) => {
    const { service, ada, create, call } = await openKeyHolder(t, { database })
    const body = { name: ' Map ', permissions: ['read', 'read', 'write:parcels'] }
    const created = await create('/v1/api-keys/personal', body)
    assert.deepEqual(Object.keys(created), CREATED)
    assert.match(created.secret, /^svc_live_[0-9A-Za-z]{32}$/)
    assert.ok(await keyOpens(service, created.secret))

    const path = `/v1/api-keys/${created.id}`
    const record = await call('GET', path)
    assert.equal(record.status, 200)
    assert.deepEqual(Object.keys(record.body), RECORD)
    assert.deepEqual(record.body, {
      id: created.id,
      name: 'Map',
      scope: 'user',
      permissions: ['read', 'write:parcels'],
      prefix: created.secret.slice(0, 'svc_live_'.length + 8),
      status: 'active',
      organizationId: ada.organizationId,
      expiresAt: null,
      createdAt: created.createdAt,
      rotatedAt: null,
      revokedAt: null,
      lastUsedAt: null,
      allowedOrigins: null,
      allowedAddresses: null,
      creditLimit: null,
      creditsUsed: 0,
      previousSecret: null,
      test: false,
    })

    const changed = await call('PATCH', path, { name: 'Atlas', expiresAt: '2100-01-01T01:00:00+01:00' })
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.body, {
      ...record.body,
      name: 'Atlas',
      expiresAt: '2100-01-01T00:00:00.000Z',
    })
    assert.deepEqual((await call('GET', path)).body, changed.body)
    assert.ok(await keyOpens(service, created.secret))

    const rotated = await call('POST', `${path}/rotate`)
    assert.equal(rotated.status, 200)
    assert.deepEqual(Object.keys(rotated.body), ['id', 'secret', 'rotatedAt'])
    assert.ok(!(await keyOpens(service, created.secret)))
    assert.ok(await keyOpens(service, rotated.body.secret))
    const afterRotation = (await call('GET', path)).body
    assert.equal(afterRotation.rotatedAt, rotated.body.rotatedAt)
    assert.ok(rotated.body.secret.startsWith(afterRotation.prefix))

    const revoked = await call('POST', `${path}/revoke`)
    assert.equal(revoked.status, 200)
    assert.equal(revoked.body.status, 'revoked')
    assert.ok(!(await keyOpens(service, rotated.body.secret)))
    assert.deepEqual((await call('POST', `${path}/revoke`)).body, revoked.body)

    assert.equal((await call('DELETE', path)).status, 204)
    for (const [method, tail] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/rotate'],
      ['POST', '/revoke'],
      ['DELETE', ''],
      ['GET', '/usage'],
    ] as const) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined
      assert.equal((await call(method, path + tail, body)).status, 404, `${method} ${tail}`)
    }
  })

  test(`exactly 25 of 40 keys created at once exist (${database})`, async (t) => {
    const { service, call, shared } = await openKeyHolder(t, {
      database,
      settings: { keysPerUser: 25, keysPerOrganization: 25 },
    })
    for (const [create, list] of [
      ['/v1/api-keys/personal', '/v1/api-keys/my-keys'],
      [shared, shared],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => call('POST', create, MAP)))
      const made = answers.filter(({ status }) => status === 201)
      const refused = answers.filter(({ status }) => status === 409)
      assert.equal(made.length, 25)
      assert.equal(refused.length, 15)
      assert.ok(refused.every(({ body }) => body.code === 'key-limit-reached'))
      const listed = (await call('GET', list)).body.data as { id: string }[]
      assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(made.map(({ body }) => body.id)))
      assert.ok(await keyOpens(service, made[0]!.body.secret))

      assert.equal((await call('POST', `/v1/api-keys/${listed[0]!.id}/revoke`)).status, 200)
      assert.equal((await call('POST', create, MAP)).status, 409)
      assert.equal((await call('DELETE', `/v1/api-keys/${listed[0]!.id}`)).status, 204)
      assert.equal((await call('POST', create, MAP)).status, 201)
    }
  })

  testOnce(
    database,
    `an expired key is refused, keeps its record, and works again with a later expiry (${database})`,
    async (t) => {
      let now = new Date('2026-11-15T12:00:00Z')
      const { service, create, call } = await openKeyHolder(t, { database, clock: () => now })
      const expiresAt = plus(now, MINUTE).toISOString()
      const { id, secret } = await create('/v1/api-keys/personal', { ...MAP, expiresAt })
      const path = `/v1/api-keys/${id}`
      assert.ok(await keyOpens(service, secret))
      now = plus(now, MINUTE - 1)
      assert.ok(await keyOpens(service, secret))
      now = plus(now, 1)
      assert.ok(!(await keyOpens(service, secret)))
      assert.equal((await call('GET', path)).body.status, 'expired')
      const rotated = await call('POST', `${path}/rotate`)
      assert.equal(rotated.status, 409)
      assert.equal(rotated.body.code, 'key-state-conflict')
      assert.equal((await call('PATCH', path, { name: 'Old' })).body.status, 'expired')
      assert.equal((await call('PATCH', path, { expiresAt })).status, 400)
      const later = await call('PATCH', path, { expiresAt: plus(now, MINUTE).toISOString() })
      assert.equal(later.body.status, 'active')
      assert.ok(await keyOpens(service, secret))
      assert.equal((await call('PATCH', path, { expiresAt: null })).body.expiresAt, null)
      now = plus(now, 5 * MINUTE)
      assert.ok(await keyOpens(service, secret))
    },
  )

  testOnce(
    database,
    `a revoked key can be neither rotated nor changed, only seen and deleted (${database})`,
    async (t) => {
      const { service, create, call } = await openKeyHolder(t, { database })
      const { id, secret } = await create('/v1/api-keys/personal')
      const path = `/v1/api-keys/${id}`
      const revoked = await call('POST', `${path}/revoke`)
      for (const [method, at, body] of [
        ['POST', `${path}/rotate`, undefined],
        ['PATCH', path, { name: 'New' }],
        ['PATCH', path, { expiresAt: null }],
      ] as const) {
        const answer = await call(method, at, body)
        assert.equal(answer.status, 409)
        assert.equal(answer.body.code, 'key-state-conflict')
      }
      assert.deepEqual((await call('GET', path)).body, revoked.body)
      assert.ok(!(await keyOpens(service, secret)))
      assert.equal((await call('DELETE', path)).status, 204)
    },
  )

  test(`of many rotations and a revocation at once, one secret or none is left (${database})`, async (t) => {
    const { service, create, call } = await openKeyHolder(t, { database })
    const { id } = await create('/v1/api-keys/personal')
    const path = `/v1/api-keys/${id}`
    const rotations = await Promise.all(Array.from({ length: 8 }, () => call('POST', `${path}/rotate`)))
    const opens = await Promise.all(rotations.map(({ body }) => keyOpens(service, body.secret)))
    assert.equal(opens.filter(Boolean).length, 1)

    const [, ...mixed] = await Promise.all([
      call('POST', `${path}/revoke`),
      ...Array.from({ length: 8 }, () => call('POST', `${path}/rotate`)),
    ])
    for (const { status, body } of mixed) {
      assert.ok(status === 200 || status === 409)
      if (status === 200) assert.ok(!(await keyOpens(service, body.secret)))
    }
  })

  testOnce(
    database,
    `a session key reads for 15 minutes, stands in no list and counts against no limit (${database})`,
    async (t) => {
      let now = new Date('2026-11-15T12:00:00Z')
      const { service, create, call } = await openKeyHolder(t, {
        database,
        clock: () => now,
        settings: { keysPerUser: 1 },
      })
      const session = await create('/v1/auth/session-key', undefined)
      assert.deepEqual(Object.keys(session), CREATED)
      assert.equal(session.expiresAt, plus(now, 15 * MINUTE).toISOString())
      await create('/v1/api-keys/personal')
      await create('/v1/auth/session-key', undefined)
      for (const list of ['my-keys', 'accessible']) {
        assert.equal((await call('GET', `/v1/api-keys/${list}`)).body.data.length, 1)
      }
      for (const { method, path, body } of verbsOf(session.id)) {
        assert.equal((await call(method, path, body)).status, 404)
      }
      assert.ok(await keyOpens(service, session.secret))
      now = plus(now, 15 * MINUTE)
      assert.ok(!(await keyOpens(service, session.secret)))
    },
  )

  test(`expired session keys are thrown away, and other expired keys are kept (${database})`, async (t) => {
    let now = new Date('2026-11-15T12:00:00Z')
    const clock = () => now
    const { service, create } = await openKeyHolder(t, { database, clock })
    const session = await create('/v1/auth/session-key', undefined)
    const expiresAt = plus(now, 15 * MINUTE).toISOString()
    const personal = await create('/v1/api-keys/personal', { ...MAP, expiresAt })
    now = plus(now, 15 * MINUTE - 1)
    const left = async () => {
      const { db } = service.parts.database
      await deleteSessionKeysExpiredBefore(service.parts.database, now.toISOString())
      const rows = await db.selectFrom('api_keys').select('id').execute()
      return new Set(rows.map(({ id }) => id))
    }
    assert.deepEqual(await left(), new Set([session.id, personal.id]))
    now = plus(now, 2)
    assert.deepEqual(await left(), new Set([personal.id]))
  })

  testOnce(
    database,
    `bad input of every kind gets 400 with the field's name, and nothing is stored (${database})`,
    async (t) => {
      const { create, call, shared } = await openKeyHolder(t, { database })
      const { id } = await create('/v1/api-keys/personal')
      const bodies: [body: unknown, path: string][] = [
        [{}, '/name'],
        [{ name: 'x' }, '/permissions'],
        [{ permissions: ['read'] }, '/name'],
        [{ ...MAP, name: 7 }, '/name'],
        [{ ...MAP, name: null }, '/name'],
        [{ ...MAP, name: ' ' }, '/name'],
        [{ ...MAP, name: 'a\u0000' }, '/name'],
        [{ ...MAP, permissions: 'read' }, '/permissions'],
        [{ ...MAP, permissions: [] }, '/permissions'],
        [{ ...MAP, permissions: [null] }, '/permissions/0'],
        [{ ...MAP, permissions: ['read', 'own'] }, '/permissions/1'],
        [{ ...MAP, permissions: Array(101).fill('read') }, '/permissions'],
        [{ ...MAP, expiresAt: 'soon' }, '/expiresAt'],
        [{ ...MAP, expiresAt: 1_900_000_000 }, '/expiresAt'],
        [{ ...MAP, expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
        [{ ...MAP, scope: 'platform' }, '/scope'],
        [{ ...MAP, id: 'x' }, '/id'],
      ]
      for (const [body, path] of bodies) {
        for (const address of ['/v1/api-keys/personal', shared]) {
          const { status, body: problem } = await call('POST', address, body)
          assert.equal(status, 400, JSON.stringify(body))
          assert.equal(problem.code, 'invalid-input')
          assert.ok(
            problem.errors.some((error: { path: string }) => error.path === path),
            JSON.stringify(problem.errors),
          )
        }
      }
      for (const [body, path] of [
        [{}, 'body'],
        [{ name: '' }, '/name'],
        [{ name: null }, '/name'],
        [{ permissions: [] }, '/permissions'],
        [{ permissions: null }, '/permissions'],
        [{ expiresAt: '' }, '/expiresAt'],
        [{ secret: 'x' }, '/secret'],
        [{ scope: 'organization' }, '/scope'],
      ] as const) {
        const { status, body: problem } = await call('PATCH', `/v1/api-keys/${id}`, body)
        assert.equal(status, 400, JSON.stringify(body))
        assert.ok(problem.errors.some((error: { path: string }) => error.path === path))
      }
      for (const body of ['', '{', '[1', 'name=x']) {
        assert.equal((await call('POST', '/v1/api-keys/personal', body)).status, 400)
      }
      for (const body of ['[]', 'null', '"x"', '7']) {
        assert.equal((await call('POST', '/v1/api-keys/personal', body)).status, 400, body)
      }
      const { data } = (await call('GET', '/v1/api-keys/accessible')).body
      assert.equal(data.length, 1)
      assert.equal(data[0].name, 'Map')
    },
  )

  test(`every step of a key's life is an event, and no event or log line holds a secret (${database})`, async (t) => {
    const { service, ada, create, call } = await openKeyHolder(t, { database })
    const { id, secret } = await create('/v1/api-keys/personal')
    const path = `/v1/api-keys/${id}`
    await call('PATCH', path, { name: 'Atlas' })
    const rotated = (await call('POST', `${path}/rotate`)).body.secret as string
    await service.request('GET', '/v1/api-keys/my-keys', { key: rotated })
    await service.request('GET', `/v1/api-keys/my-keys?api_key=${rotated}`)
    await service.request('GET', '/v1/api-keys/my-keys', { token: rotated })
    const echoes = [
      await service.request('GET', `/v1/dataset/${rotated}`, { key: rotated }),
      await service.request('GET', `/v1/api-keys/${rotated}`, { token: ada.token }),
      await service.request('POST', '/v1/api-keys/personal', {
        token: ada.token,
        body: { name: 'x', permissions: [rotated] },
      }),
    ]
    await call('POST', `${path}/revoke`)
    await call('POST', `${path}/revoke`)
    await call('DELETE', path)

    const events = await service.parts.database.db.selectFrom('events').selectAll().orderBy('id').execute()
    const ours = events.filter(({ subject }) => subject === `key:${id}`)
    assert.deepEqual(
      ours.map(({ action }) => action),
      ['key.created', 'key.changed', 'key.rotated', 'key.revoked', 'key.deleted'],
    )
    for (const event of ours) {
      assert.equal(event.actor, `user:${ada.userId}`)
      assert.equal(event.organization_id, ada.organizationId)
      assert.match(event.address ?? '', /127\.0\.0\.1/)
      assert.ok(event.request_id)
    }
    assert.ok(service.logLines.length > 0)
    for (const hidden of [secret, rotated]) {
      assert.ok(!JSON.stringify(events).includes(hidden.slice(17)))
      assert.ok(!service.logLines.join('').includes(hidden.slice(17)))
    }
    for (const { body } of echoes) {
      assert.ok(body.status >= 400)
      assert.ok(!`${body.detail} ${JSON.stringify(body.errors)}`.includes(rotated))
    }
  })
}

test('calls without a body take whatever Content-Type a client announces', async (t) => {
  const { service, ada, create } = await openKeyHolder(t, {})
  const { id } = await create('/v1/api-keys/personal')
  for (const [method, tail] of [
    ['POST', '/rotate'],
    ['POST', '/revoke'],
    ['DELETE', ''],
  ] as const) {
    const answer = await service.request(method, `/v1/api-keys/${id}${tail}`, {
      token: ada.token,
      headers: { 'content-type': 'application/json' },
    })
    assert.ok(answer.status < 300, answer.text)
  }
})

test('a response that contains a secret is not cacheable', async (t) => {
  const { call } = await openKeyHolder(t, {})
  const created = await call('POST', '/v1/api-keys/personal', MAP)
  assert.equal(created.headers.get('cache-control'), 'no-store')
  assert.equal(created.headers.get('location'), `/v1/api-keys/${created.body.id}`)
  const rotated = await call('POST', `/v1/api-keys/${created.body.id}/rotate`)
  assert.equal(rotated.headers.get('cache-control'), 'no-store')
})
