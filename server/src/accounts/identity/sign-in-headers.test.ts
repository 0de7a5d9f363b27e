import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { nextMail, signIn } from '../../testing/sign-in.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('a poisoned Host or forwarded header does not reach a mail', async (t) => {
  const service = await openTestServer(t, { settings: { trustedProxies: ['127.0.0.1'] } })
  await new Promise<void>((resolve, reject) => {
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
      'content-type': 'application/json',
    }
    const asked = httpRequest(
      `${service.url}/v1/auth/magic-link`,
      { method: 'POST', headers },
      (response) => {
        assert.equal(response.statusCode, 202)
        response.resume().on('end', resolve)
      },
    )
    asked.on('error', reject).end(JSON.stringify({ email: 'ada@example.org' }))
  })
  const mail = await nextMail(service, 'ada@example.org')
  assert.ok(mail.link.startsWith(`${service.url}/sign-in#`))
  assert.ok(!mail.source.includes('evil'))
})

test('headers that spoof a network address do not dodge the limit on sign-in mails', async (t) => {
  const service = await openTestServer(t, { settings: { signInAddressRate: 3 } })
  const answers = []
  for (let i = 0; i < 4; i++) {
    const headers = {
      'x-forwarded-for': `10.0.0.${i}`,
      'x-real-ip': `10.0.0.${i}`,
      forwarded: `for=10.0.0.${i}`,
      'cf-connecting-ip': `10.0.0.${i}`,
    }
    const body = { email: `user${i}@example.org` }
    answers.push(await service.request('POST', '/v1/auth/magic-link', { headers, body }))
  }
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [202, 202, 202, 429],
  )
  assert.equal(answers[0]!.headers.get('ratelimit-policy'), '"sign-in";q=3;w=900')
  assert.ok(Number(answers[3]!.headers.get('retry-after')) > 0)
})

test('failed credentials count against the network address', async (t) => {
  const service = await openTestServer(t, { settings: { addressRate: 3 } })
  const redeem = () => service.request('POST', '/v1/auth/token', { body: { token: 'wrong' } })
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await redeem()).status)
  assert.deepEqual(statuses, [401, 401, 401, 429])
  assert.equal((await service.request('GET', '/v1/auth/me', { token: 'wrong' })).status, 429)
})

test('sign-in responds to no page of another origin', async (t) => {
  const service = await openTestServer(t, { settings: { baseUrl: 'https://data.example.org' } })
  const ask = (headers: Record<string, string>) =>
    service.request('POST', '/v1/auth/magic-link', { headers, body: { email: 'bob@example.org' } })
  for (const origin of [
    'https://evil.example',
    'null',
    'https://data.example.org.evil.example',
    'http://data.example.org',
  ]) {
    const answer = await ask({ origin })
    assert.equal(answer.status, 403, origin)
    assert.equal(answer.body.code, 'origin-refused')
    assert.equal(answer.headers.get('access-control-allow-origin'), null)
  }
  assert.equal((await ask({ 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal((await ask({ 'sec-fetch-site': 'same-site' })).status, 403)
  assert.equal(
    (await ask({ origin: 'https://data.example.org', 'sec-fetch-site': 'same-origin' })).status,
    202,
  )
  assert.equal((await ask({ origin: service.url })).status, 202)
  const { token } = await signIn(service, 'ada@example.org')
  for (const path of ['/v1/auth/session-key', '/v1/%61uth/session-key', '/v1/auth/refresh']) {
    const headers = { origin: 'https://evil.example' }
    assert.equal((await service.request('POST', path, { token, headers })).status, 403, path)
  }
  const preflight = await service.request('OPTIONS', '/v1/auth/token', {
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})
