import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { MINUTE, plus, SECOND } from '../../base/clock.ts'
import { openKeyHolder } from '../../testing/key-holder.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import {
  databaseKinds,
  openTestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`a rotation with an overlap keeps the old secret until its end by the clock (${database})`, async (t) => {
    let now = new Date('2026-11-15T12:00:00Z')
    const { service, create, call } = await openKeyHolder(t, { database, clock: () => now })
    const first = await create('/v1/api-keys/personal')
    const path = `/v1/api-keys/${first.id}`
    assert.ok(await keyOpens(service, first.secret))
    const prefix = (await call('GET', path)).body.prefix

    const rotated = await call('POST', `${path}/rotate`, { overlapSeconds: 600 })
    assert.equal(rotated.status, 200, rotated.text)
    assert.deepEqual(Object.keys(rotated.body), ['id', 'secret', 'rotatedAt'])
    const endsAt = plus(now, 10 * MINUTE).toISOString()
    assert.ok(await keyOpens(service, first.secret))
    assert.ok(await keyOpens(service, rotated.body.secret))
    const during = (await call('GET', path)).body
    assert.deepEqual(during.previousSecret, { prefix, endsAt, lastUsedAt: null })
    assert.ok(rotated.body.secret.startsWith(during.prefix))

    now = plus(now, 10 * MINUTE - SECOND)
    assert.ok(await keyOpens(service, first.secret))
    now = plus(now, SECOND)
    assert.ok(!(await keyOpens(service, first.secret)))
    assert.ok(await keyOpens(service, rotated.body.secret))
    assert.equal((await call('GET', path)).body.previousSecret, null)
  })

  test(`both secrets have a time of their last use, also if it is written after the rotation (${database})`, async (t) => {
    let now = new Date('2026-11-15T12:00:00Z')
    const { service, create, call } = await openKeyHolder(t, { database, clock: () => now })
    const { id, secret } = await create('/v1/api-keys/personal')
    const path = `/v1/api-keys/${id}`
    const usedAt = now.toISOString()
    await keyOpens(service, secret)
    now = plus(now, SECOND)
    const rotated = (await call('POST', `${path}/rotate`, { overlapSeconds: 60 })).body
    await service.parts.meter.close()
    const unused = (await call('GET', path)).body
    assert.deepEqual([unused.lastUsedAt, unused.previousSecret.lastUsedAt], [null, usedAt])
    now = plus(now, SECOND)
    await keyOpens(service, rotated.secret)
    await service.parts.meter.close()
    const used = (await call('GET', path)).body
    assert.deepEqual([used.lastUsedAt, used.previousSecret.lastUsedAt], [now.toISOString(), usedAt])
    // A use of the replaced secret is not one of the new secret.
    now = plus(now, SECOND)
    await keyOpens(service, rotated.secret)
    await call('POST', `${path}/rotate`)
    await service.parts.meter.close()
    assert.equal((await call('GET', path)).body.lastUsedAt, null)
  })

  test(`a second rotation, revoking and deleting end the older secrets of an overlap at once (${database})`, async (t) => {
    const { service, create, call } = await openKeyHolder(t, { database })
    const rotate = async (id: string, body?: unknown): Promise<string> => {
      const answer = await call('POST', `/v1/api-keys/${id}/rotate`, body)
      assert.equal(answer.status, 200, answer.text)
      return answer.body.secret
    }
    const openCount = async (secrets: string[]) => {
      const states = []
      for (const secret of secrets) states.push(await keyOpens(service, secret))
      return states
    }
    const { id, secret: one } = await create('/v1/api-keys/personal')
    const two = await rotate(id, { overlapSeconds: 604_800 })
    assert.deepEqual(await openCount([one, two]), [true, true])
    const three = await rotate(id, { overlapSeconds: 60 })
    assert.deepEqual(await openCount([one, two, three]), [false, true, true])
    const four = await rotate(id)
    assert.deepEqual(await openCount([one, two, three, four]), [false, false, false, true])
    const five = await rotate(id, { overlapSeconds: 60 })
    assert.deepEqual(await openCount([four, five]), [true, true])
    assert.equal((await call('POST', `/v1/api-keys/${id}/revoke`)).body.previousSecret, null)
    assert.deepEqual(await openCount([four, five]), [false, false])

    const other = await create('/v1/api-keys/personal')
    const next = await rotate(other.id, { overlapSeconds: 60 })
    assert.equal((await call('DELETE', `/v1/api-keys/${other.id}`)).status, 204)
    assert.deepEqual(await openCount([other.secret, next]), [false, false])
  })
}

test('an overlap is a whole number of seconds up to a week; no body, an empty one and 0 mean none', async (t) => {
  const { service, create, call } = await openKeyHolder(t, {})
  const { id, secret } = await create('/v1/api-keys/personal')
  const rotate = (body?: unknown) => call('POST', `/v1/api-keys/${id}/rotate`, body)
  for (const body of [
    { overlapSeconds: -1 },
    { overlapSeconds: 604_801 },
    { overlapSeconds: 1.5 },
    { overlapSeconds: '60' },
    { overlapSeconds: null },
    { overlap: 60 },
    [],
    null,
  ]) {
    assert.equal((await rotate(body)).status, 400, JSON.stringify(body))
  }
  assert.ok(await keyOpens(service, secret))
  let last = secret
  for (const body of [undefined, {}, { overlapSeconds: 0 }]) {
    const rotated = await rotate(body)
    assert.equal(rotated.status, 200, JSON.stringify(body))
    assert.ok(!(await keyOpens(service, last)))
    last = rotated.body.secret
  }
  assert.ok(await keyOpens(service, last))
})

test('the old secret ends on a second node by its clock, and a revocation ends both there at once', {
  skip: lacks('postgres'),
}, async (t) => {
  let now = new Date('2026-11-15T12:00:00Z')
  const clock = () => now
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const { create, call } = await openKeyHolder(t, { databaseUrl, dataDir, clock })
  const two = await openTestServer(t, { databaseUrl, dataDir, clock })
  const { id, secret } = await create('/v1/api-keys/personal')
  assert.ok(await keyOpens(two, secret))
  const rotated = (await call('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 60 })).body
  assert.ok(await keyOpens(two, secret))
  now = plus(now, 60 * SECOND)
  assert.ok(!(await keyOpens(two, secret)))
  const third = (await call('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 60 })).body
  for (const one of [rotated, third]) assert.ok(await keyOpens(two, one.secret))
  await call('POST', `/v1/api-keys/${id}/revoke`)
  for (const one of [rotated, third]) assert.ok(!(await keyOpens(two, one.secret)))
})

test('a leaked old secret is found while it works, and revoking by it ends the key', async (t) => {
  const { service, create, call } = await openKeyHolder(t, {})
  const { id, secret } = await create('/v1/api-keys/personal')
  const rotated = (await call('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 60 })).body
  const { keyFinder } = service.parts
  const byPrefix = await keyFinder.find(secret.slice(0, 'svc_live_'.length + 8))
  assert.deepEqual(
    byPrefix.map((key) => [key.id, key.state]),
    [[id, 'active']],
  )
  const origin = { actor: 'operator', address: null, requestId: null }
  await keyFinder.revoke(origin, secret)
  for (const one of [secret, rotated.secret]) assert.ok(!(await keyOpens(service, one)))
})
