import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../../testing/sign-in.ts'
import { type Answer, openTestServer } from '../../testing/test-server.ts'

/** The clock is frozen, so that no bucket refills while a slow machine sends requests. */
const clock = () => new Date('2026-11-15T12:00:00Z')

const statuses = (answers: Answer[]) => answers.map(({ status }) => status)

test('a key is limited to its burst and rate, and every response states what is left', async (t) => {
  const settings = { keyRate: 60, keyBurst: 3, ownerRate: 120, ownerBurst: 100 }
  const service = await openTestServer(t, { clock, settings })
  const { token } = await signIn(service, 'ada@example.org')
  const createKey = async () => {
    const body = { name: 'Map', permissions: ['read'] }
    return (await service.request('POST', '/v1/api-keys/personal', { token, body })).body.secret as string
  }
  const [key, other] = [await createKey(), await createKey()]
  const answers: Answer[] = []
  for (let i = 0; i < 4; i++) answers.push(await service.request('GET', '/v1/datasets', { key }))
  assert.deepEqual(statuses(answers), [200, 200, 200, 429])
  for (const { headers } of answers) {
    assert.equal(headers.get('ratelimit-policy'), '"key";q=60;w=60')
    assert.match(headers.get('ratelimit') ?? '', /^"key";r=[0-2];t=[1-3]$/)
  }
  assert.match(answers[0]!.headers.get('ratelimit') ?? '', /r=2;/)
  const refused = answers.at(-1)!
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.body.code, 'rate-limited')
  assert.match(refused.body.detail, /1 s/)
  assert.equal((await service.request('GET', '/v1/datasets', { key: other })).status, 200)
})

test('a system clock that is set back refuses no key that was idle', async (t) => {
  const service = await openTestServer(t)
  const rate = { requests: 1, burst: 2 }
  const { limiter } = service.parts
  assert.deepEqual((await limiter.take('key', rate)).remaining, 1)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 })
  const { allowed, remaining } = await limiter.take('key', rate)
  t.mock.timers.reset()
  assert.deepEqual({ allowed, remaining }, { allowed: true, remaining: 0 })
})

test('the keys of one owner are limited together: a deleted key and a new one gain nothing', async (t) => {
  const settings = { keyRate: 60, keyBurst: 3, ownerRate: 60, ownerBurst: 4 }
  const service = await openTestServer(t, { clock, settings })
  const ada = await signIn(service, 'ada@example.org')
  const bob = await signIn(service, 'bob@example.org')
  const body = { name: 'Map', permissions: ['read'] }
  const ask = async ({ token }: { token: string }, path: string) => {
    const { id, secret } = (await service.request('POST', path, { token, body })).body
    const answer = await service.request('GET', '/v1/datasets', { key: secret })
    assert.equal((await service.request('DELETE', `/v1/api-keys/${id}`, { token })).status, 204)
    return answer
  }
  for (const path of ['/v1/api-keys/personal', `/v1/api-keys/organization/${ada.organizationId}`]) {
    const answers: Answer[] = []
    for (let i = 0; i < 6; i++) answers.push(await ask(ada, path))
    assert.deepEqual(statuses(answers), [200, 200, 200, 200, 429, 429], path)
    assert.equal(answers[0]!.headers.get('ratelimit-policy'), '"key";q=60;w=60')
    assert.equal(answers[4]!.headers.get('ratelimit-policy'), '"owner";q=60;w=60')
    assert.equal(answers[4]!.headers.get('retry-after'), '1')
  }
  assert.equal((await ask(bob, '/v1/api-keys/personal')).status, 200)
  // A request that the owner's limit refuses takes nothing from the key's.
  const { secret } = (await service.request('POST', '/v1/auth/session-key', { token: ada.token })).body
  assert.equal((await service.request('GET', '/v1/datasets', { key: secret })).status, 429)
})

test('a user’s session keys share one limit', async (t) => {
  const service = await openTestServer(t, { clock, settings: { keyRate: 60, keyBurst: 3 } })
  const ada = await signIn(service, 'ada@example.org')
  const bob = await signIn(service, 'bob@example.org')
  const ask = async ({ token }: { token: string }) => {
    const { secret } = (await service.request('POST', '/v1/auth/session-key', { token })).body
    return service.request('GET', '/v1/datasets', { key: secret })
  }
  const answers: Answer[] = []
  for (const user of [ada, ada, ada, ada, bob]) answers.push(await ask(user))
  assert.deepEqual(statuses(answers), [200, 200, 200, 429, 200])
})

test('a signed-in user is limited on the management endpoints, by user and not by token', async (t) => {
  const service = await openTestServer(t, { clock, settings: { userRate: 4 } })
  const first = await signIn(service, 'ada@example.org')
  const second = await signIn(service, 'ada@example.org')
  const bob = await signIn(service, 'bob@example.org')
  const answers: Answer[] = []
  for (const { token } of [first, second, first, second]) {
    answers.push(await service.request('GET', '/v1/api-keys/my-keys', { token }))
  }
  // Each sign-in of the test made one request of its own.
  assert.deepEqual(statuses(answers), [200, 200, 429, 429])
  assert.equal(answers[0]!.headers.get('ratelimit-policy'), '"user";q=4;w=60')
  assert.ok(Number(answers[3]!.headers.get('retry-after')) >= 1)
  assert.equal((await service.request('GET', '/v1/api-keys/my-keys', { token: bob.token })).status, 200)
})

test('an address without credentials is limited, and headers that claim another do not help', async (t) => {
  const service = await openTestServer(t, { clock, settings: { addressRate: 3 } })
  const answers: Answer[] = []
  for (let i = 0; i < 5; i++) {
    const headers = {
      'x-forwarded-for': `198.51.100.${i}`,
      forwarded: `for=198.51.100.${i}`,
      'x-real-ip': `198.51.100.${i}`,
    }
    answers.push(await service.request('GET', '/v1/datasets', { headers }))
  }
  assert.deepEqual(statuses(answers), [200, 200, 200, 429, 429])
  assert.equal(answers[0]!.headers.get('ratelimit-policy'), '"address";q=3;w=60')
})

test('failed credentials count against the address', async (t) => {
  const service = await openTestServer(t, { clock, settings: { addressRate: 3 } })
  const wrong = [
    await service.request('GET', '/v1/datasets', { key: 'svc_live_0000' }),
    await service.request('GET', '/v1/api-keys/my-keys'),
    await service.request('GET', '/v1/api-keys/my-keys', { token: 'x.y.z' }),
    await service.request('GET', '/v1/api-keys/my-keys', { token: 'x.y.z' }),
    await service.request('GET', '/v1/datasets', { key: 'svc_live_0000' }),
  ]
  assert.deepEqual(statuses(wrong), [401, 401, 401, 429, 429])
})

test('behind a trusted proxy the address it names is limited, IPv6 by /64', async (t) => {
  const service = await openTestServer(t, {
    clock,
    settings: { addressRate: 1, trustedProxies: ['127.0.0.1/32'] },
  })
  const from = async (address: string) =>
    (await service.request('GET', '/v1/datasets', { headers: { 'x-forwarded-for': address } })).status
  assert.equal(await from('198.51.100.1'), 200)
  assert.equal(await from('198.51.100.1'), 429)
  assert.equal(await from('198.51.100.2'), 200)
  assert.equal(await from('2001:db8:1:2::1'), 200)
  assert.equal(await from('2001:db8:1:2:ffff::9'), 429)
  assert.equal(await from('2001:db8:1:3::1'), 200)
})
