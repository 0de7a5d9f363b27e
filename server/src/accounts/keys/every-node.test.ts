import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { MINUTE, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'

const MAP = { name: 'Map', permissions: ['read'] }

async function createKey(service: TestServer, token: string, body: unknown = MAP) {
  const answer = await service.request('POST', '/v1/api-keys/personal', { token, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: string; secret: string }
}

/** The ways to invalidate a secret over HTTP. */
const endings: [name: string, method: string, tail: string][] = [
  ['revoked', 'POST', '/revoke'],
  ['rotated', 'POST', '/rotate'],
  ['deleted', 'DELETE', ''],
]

test('a revoked, rotated or deleted secret is 401 on a second node at once', {
  skip: lacks('postgres'),
}, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const one = await openTestServer(t, { databaseUrl, dataDir })
  const two = await openTestServer(t, { databaseUrl, dataDir })
  const { token } = await signIn(one, 'ada@example.org')
  for (const [name, method, tail] of endings) {
    for (let round = 0; round < 5; round++) {
      const { id, secret } = await createKey(one, token)
      assert.ok(await keyOpens(two, secret))
      assert.ok(await keyOpens(two, secret))
      const ended = await one.request(method, `/v1/api-keys/${id}${tail}`, { token })
      assert.ok(ended.status < 300, ended.text)
      assert.ok(!(await keyOpens(two, secret)), name)
      if (name === 'rotated') assert.ok(await keyOpens(two, ended.body.secret))
    }
  }
})

test('an expired secret is 401 on a second node at once, and a later expiry opens it there again', {
  skip: lacks('postgres'),
}, async (t) => {
  let now = new Date('2026-11-15T12:00:00Z')
  const clock = () => now
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const one = await openTestServer(t, { databaseUrl, dataDir, clock })
  const two = await openTestServer(t, { databaseUrl, dataDir, clock })
  const { token } = await signIn(one, 'ada@example.org')
  const expiresAt = plus(now, MINUTE).toISOString()
  const { id, secret } = await createKey(one, token, { ...MAP, expiresAt })
  assert.ok(await keyOpens(two, secret))
  now = plus(now, MINUTE)
  assert.ok(!(await keyOpens(two, secret)))
  const body = { expiresAt: plus(now, MINUTE).toISOString() }
  assert.equal((await one.request('PATCH', `/v1/api-keys/${id}`, { token, body })).status, 200)
  assert.ok(await keyOpens(two, secret))
})

for (const database of databaseKinds) {
  test(`what the command line changes holds for a running server's next request (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const run = async (...args: string[]) => {
      const result = await runCommand(service.config, ...args, '--json')
      assert.equal(result.code, 0, result.stderr)
      return result.json
    }
    const { token, organizationId } = await signIn(service, 'ada@example.org')

    const [rotated, kept] = [await createKey(service, token), await createKey(service, token)]
    for (const { secret } of [rotated, kept]) assert.ok(await keyOpens(service, secret))

    const { secret } = await run('key', 'rotate', rotated.id)
    assert.ok(!(await keyOpens(service, rotated.secret)))
    assert.ok(await keyOpens(service, secret))
    await run('key', 'revoke', rotated.id)
    assert.ok(!(await keyOpens(service, secret)))

    const organization = () => service.request('GET', '/v1/organization/me', { token })
    await run('org', 'add-on', organizationId, 'GIS_ACCESS', 'API_ACCESS')
    assert.deepEqual((await organization()).body.addOns, ['API_ACCESS', 'GIS_ACCESS'])
    await run('org', 'credits', organizationId, '--add', '40')
    assert.deepEqual((await organization()).body.credits, { balance: 40 })

    const other = await service.parts.organizations.create(operator, 'Other')
    await run('org', 'member', other.id, 'ada@example.org')
    assert.ok(await keyOpens(service, kept.secret))
    const { body } = await service.request('GET', '/v1/organizations', { token })
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [organizationId, other.id],
    )
  })
}
