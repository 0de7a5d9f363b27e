import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE } from '../../base/clock.ts'
import { keyOpens } from '../../testing/key-opens.ts'
import { signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

const me = async (service: TestServer, token: string) =>
  (await service.request('GET', '/v1/auth/me', { token })).status

const refresh = (service: TestServer, refreshToken: string) =>
  service.request('POST', '/v1/auth/refresh', { body: { refreshToken } })

for (const database of databaseKinds) {
  test(`signing out ends the session’s access tokens and its key at once, on every node, and no other session, on ${database}`, async (t) => {
    const first = await openTestServer(t, { database })
    const { databaseUrl, dataDir } = first.config
    const second = databaseUrl ? await openTestServer(t, { databaseUrl, dataDir }) : first
    const one = await signIn(first, 'ada@example.org')
    const other = await signIn(first, 'ada@example.org')
    const { accessToken, refreshToken } = (await refresh(first, one.refreshToken)).body
    for (const token of [one.token, accessToken, other.token]) assert.equal(await me(second, token), 200)
    const keyOf = async (token: string) =>
      (await first.request('POST', '/v1/auth/session-key', { token })).body.secret as string
    const [key, otherKey] = [await keyOf(accessToken), await keyOf(other.token)]
    // Make sure that each node has cached the keys.
    for (const node of [first, second])
      assert.deepEqual([await keyOpens(node, key), await keyOpens(node, otherKey)], [true, true])
    await first.request('POST', '/v1/auth/sign-out', { body: { refreshToken } })
    for (const node of [first, second]) {
      assert.deepEqual([await me(node, one.token), await me(node, accessToken)], [401, 401])
      assert.equal(await me(node, other.token), 200)
      assert.deepEqual([await keyOpens(node, key), await keyOpens(node, otherKey)], [false, true])
    }
  })

  test(`a reused refresh token ends the access tokens of the session, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const copied = (await refresh(service, refreshToken)).body
    pass(MINUTE)
    assert.equal(await me(service, copied.accessToken), 200)
    const token = copied.accessToken
    const { secret } = (await service.request('POST', '/v1/auth/session-key', { token })).body
    assert.ok(await keyOpens(service, secret))
    assert.equal((await refresh(service, refreshToken)).status, 401)
    assert.equal(await me(service, copied.accessToken), 401)
    assert.ok(!(await keyOpens(service, secret)))
  })
}
