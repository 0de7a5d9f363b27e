import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { DAY, SECOND } from '../../base/clock.ts'
import { askForLink, signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  testOnce,
} from '../../testing/test-server.ts'

const refresh = (service: TestServer, refreshToken: string) =>
  service.request('POST', '/v1/auth/refresh', { body: { refreshToken } })

for (const database of databaseKinds) {
  const guarantee = (name: string, run: (t: TestContext) => Promise<void>) =>
    test(`${name} (${database})`, run)
  const once = (name: string, run: (t: TestContext) => Promise<void>) => testOnce(database, name, run)

  once('a refresh token is exchanged for a new pair that works', async (t) => {
    const service = await openTestServer(t, { database })
    const { refreshToken, userId } = await signIn(service, 'ada@example.org')
    const answer = await refresh(service, refreshToken)
    assert.equal(answer.status, 200)
    assert.notEqual(answer.body.refreshToken, refreshToken)
    const me = await service.request('GET', '/v1/auth/me', { token: answer.body.accessToken })
    assert.equal(me.body.user.id, userId)
    assert.equal((await refresh(service, answer.body.refreshToken)).status, 200)
  })

  guarantee('a reused refresh token ends its family, and no other', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const stolen = await signIn(service, 'ada@example.org')
    const other = await signIn(service, 'ada@example.org')
    const next = await refresh(service, stolen.refreshToken)
    pass(11 * SECOND)
    const reused = await refresh(service, stolen.refreshToken)
    assert.equal(reused.status, 401)
    assert.equal(reused.body.code, 'session-ended')
    assert.equal(reused.headers.get('www-authenticate'), 'Bearer')
    assert.equal((await refresh(service, next.body.refreshToken)).status, 401)
    assert.equal((await refresh(service, other.refreshToken)).status, 200)
    const { db } = service.parts.database
    const events = await db.selectFrom('events').selectAll().where('action', '=', 'session.ended').execute()
    assert.deepEqual(
      events.map((event) => JSON.parse(event.detail)),
      [{ reason: 'reuse' }],
    )
  })

  guarantee('two tabs that refresh at once stay signed in', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(service, refreshToken)))
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]))
    assert.equal(new Set(answers.map((answer) => answer.body.refreshToken)).size, 1)
    pass(60 * SECOND)
    assert.equal((await refresh(service, answers[0]!.body.refreshToken)).status, 200)
  })

  once('a tab that comes late gets the newest token, not one that was used since', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const second = (await refresh(service, refreshToken)).body.refreshToken
    const third = (await refresh(service, second)).body.refreshToken
    pass(9 * SECOND)
    const late = await refresh(service, refreshToken)
    assert.equal(late.body.refreshToken, third)
    pass(60 * SECOND)
    assert.equal((await refresh(service, late.body.refreshToken)).status, 200)
  })

  once('a session lasts for 30 days after its last refresh', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    pass(29 * DAY)
    const next = await refresh(service, refreshToken)
    assert.equal(next.status, 200)
    pass(29 * DAY)
    const last = await refresh(service, next.body.refreshToken)
    assert.equal(last.status, 200)
    pass(30 * DAY)
    assert.equal((await refresh(service, last.body.refreshToken)).status, 401)
    const { db } = service.parts.database
    const left = () => db.selectFrom('refresh_tokens').selectAll().execute()
    await service.parts.identity.signIn.tidy(clock())
    assert.notDeepEqual(await left(), [], 'kept for a day in case the clock is wrong')
    pass(DAY + SECOND)
    await service.parts.identity.signIn.tidy(clock())
    assert.deepEqual(await left(), [])
  })

  once('signing out ends the whole family', async (t) => {
    const service = await openTestServer(t, { database })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const next = await refresh(service, refreshToken)
    const out = await service.request('POST', '/v1/auth/sign-out', { body: { refreshToken } })
    assert.equal(out.status, 204)
    assert.equal((await refresh(service, next.body.refreshToken)).status, 401)
    assert.equal((await refresh(service, refreshToken)).status, 401)
    const again = await service.request('POST', '/v1/auth/sign-out', { body: { refreshToken } })
    assert.equal(again.status, 204)
  })

  guarantee('signing out while another tab still refreshes the token before fails for neither', async (t) => {
    const service = await openTestServer(t, { database })
    for (let round = 0; round < 8; round++) {
      const { refreshToken } = await signIn(service, 'ada@example.org')
      const next = (await refresh(service, refreshToken)).body.refreshToken
      const [out, ...others] = await Promise.all([
        service.request('POST', '/v1/auth/sign-out', { body: { refreshToken: next } }),
        refresh(service, refreshToken),
        refresh(service, refreshToken),
        service.request('POST', '/v1/auth/sign-out', { body: { refreshToken } }),
      ])
      assert.equal(out.status, 204)
      for (const { status } of others) assert.ok([200, 204, 401].includes(status), String(status))
      assert.equal((await refresh(service, next)).status, 401)
    }
  })

  once('no refresh token is stored, only its hash', async (t) => {
    const service = await openTestServer(t, { database })
    const { refreshToken } = await signIn(service, 'ada@example.org')
    const rows = await service.parts.database.db.selectFrom('refresh_tokens').selectAll().execute()
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(refreshToken))
  })
}

test('in the browser the refresh token lives in a cookie that no script and no other site gets', async (t) => {
  const service = await openTestServer(t, { settings: { baseUrl: 'https://data.example.org' } })
  const { token } = await askForLink(service, 'ada@example.org')
  const entered = await service.request('POST', '/v1/auth/token', { body: { token, cookie: true } })
  assert.deepEqual(Object.keys(entered.body).sort(), ['accessToken', 'expiresIn', 'tokenType'])
  const [pair, ...attributes] = entered.headers.getSetCookie()[0]!.split('; ')
  assert.deepEqual(attributes, [
    'Path=/v1/auth',
    `Max-Age=${30 * 24 * 3600}`,
    'HttpOnly',
    'SameSite=Strict',
    'Secure',
  ])
  const refreshed = await service.request('POST', '/v1/auth/refresh', {
    headers: { cookie: `theme=dark; ${pair}` },
    body: { cookie: true },
  })
  assert.equal(refreshed.status, 200)
  assert.equal('refreshToken' in refreshed.body, false)
  const next = refreshed.headers.getSetCookie()[0]!.split('; ')[0]!
  assert.notEqual(next, pair)
  const unsaid = await service.request('POST', '/v1/auth/refresh', { headers: { cookie: next } })
  assert.equal(unsaid.status, 200)
  assert.equal('refreshToken' in unsaid.body, false)
  const last = unsaid.headers.getSetCookie()[0]!.split('; ')[0]!
  const out = await service.request('POST', '/v1/auth/sign-out', { headers: { cookie: last } })
  assert.equal(out.status, 204)
  assert.match(out.headers.getSetCookie()[0]!, /^__Secure-wayleave_refresh=; Path=\/v1\/auth; Max-Age=0;/)
  const ended = await service.request('POST', '/v1/auth/refresh', { headers: { cookie: last } })
  assert.equal(ended.status, 401)
  assert.match(ended.headers.getSetCookie()[0]!, /^__Secure-wayleave_refresh=; .*Max-Age=0;/)
})

test('a page that announces JSON and sends nothing refreshes and signs out by its cookie', async (t) => {
  const service = await openTestServer(t)
  const { token } = await askForLink(service, 'ada@example.org')
  const entered = await service.request('POST', '/v1/auth/token', { body: { token, cookie: true } })
  const cookie = entered.headers.getSetCookie()[0]!.split(';')[0]!
  const headers = { cookie, 'content-type': 'application/json' }
  assert.equal((await service.request('POST', '/v1/auth/refresh', { headers })).status, 200)
  assert.equal((await service.request('POST', '/v1/auth/sign-out', { headers })).status, 204)
  assert.equal((await service.request('POST', '/v1/auth/refresh', { headers })).status, 401)
})

test('below a path of a larger site the cookie is sent to that path alone', async (t) => {
  const service = await openTestServer(t, { settings: { baseUrl: 'https://example.org/data' } })
  const { token } = await askForLink(service, 'ada@example.org')
  const entered = await service.request('POST', '/v1/auth/token', { body: { token, cookie: true } })
  assert.match(entered.headers.getSetCookie()[0]!, /; Path=\/data\/v1\/auth;/)
})

test('without https the cookie is not marked Secure, so that a browser on loopback keeps it', async (t) => {
  const service = await openTestServer(t)
  const { token } = await askForLink(service, 'ada@example.org')
  const entered = await service.request('POST', '/v1/auth/token', { body: { token, cookie: true } })
  assert.doesNotMatch(entered.headers.getSetCookie()[0]!, /Secure/)
  assert.equal((await service.request('POST', '/v1/auth/refresh')).status, 401)
})

test('a session begun on one node goes on at another', { skip: lacks('postgres') }, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const [one, two] = [await openTestServer(t, { databaseUrl }), await openTestServer(t, { databaseUrl })]
  const { refreshToken } = await signIn(one, 'ada@example.org')
  const [first, second] = await Promise.all([refresh(one, refreshToken), refresh(two, refreshToken)])
  assert.equal(first.status, 200)
  assert.equal(second.body.refreshToken, first.body.refreshToken)
  const me = await one.request('GET', '/v1/auth/me', { token: second.body.accessToken })
  assert.equal(me.status, 200)
})

test('a token that was replaced on a node whose clock is ahead ends its family too', {
  skip: lacks('postgres'),
}, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const { clock, pass } = testClock()
  pass(120 * SECOND)
  const ahead = await openTestServer(t, { databaseUrl, clock })
  const right = await openTestServer(t, { databaseUrl })
  const { refreshToken } = await signIn(right, 'ada@example.org')
  const next = await refresh(ahead, refreshToken)
  assert.equal(next.status, 200)
  assert.equal((await refresh(right, refreshToken)).status, 401)
  assert.equal((await refresh(right, next.body.refreshToken)).status, 401)
})
