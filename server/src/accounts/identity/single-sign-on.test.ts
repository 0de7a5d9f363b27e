import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CLIENT, openTestProvider, signInAtProvider } from '../../../../scripts/test-servers/test-provider.ts'
import { operator } from '../../base/events/events.ts'
import type { Config } from '../../base/settings/config.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { askForLink, signIn } from '../../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  type TestSettings,
} from '../../testing/test-server.ts'

async function openSignOn(t: TestContext, settings: Partial<Config> = {}, options: TestSettings = {}) {
  // The provider knows the address of the service only after it has started.
  let redirectUri = 'http://127.0.0.1:1/sign-in'
  const provider = await openTestProvider(() => redirectUri)
  cleanUp(t, provider.close)
  const service = await openTestServer(t, {
    ...options,
    settings: { signIn: 'both', oidcIssuer: provider.issuer, ...CLIENT, ...settings },
  })
  redirectUri = `${service.url}/sign-in`
  provider.rotateKeys()
  provider.accounts.set('ada', { email: 'Ada@Example.org', email_verified: true })
  return { service, provider, browser: () => browserOf(service) }
}

/** The browser of one person: it keeps the cookies of the service. */
function browserOf(service: TestServer) {
  const cookies = new Map<string, string>()
  const post = async (path: string, body?: unknown) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await service.request('POST', path, { body, headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split(/=(.*)/s)
      if (/Max-Age=0/.test(line)) cookies.delete(name!)
      else cookies.set(name!, value!)
    }
    return answer
  }
  return {
    cookies,
    start: async () => (await post('/v1/auth/oidc')).body.url as string,
    begin: () => post('/v1/auth/oidc'),
    finish: (response: string, body: object = {}) => post('/v1/auth/oidc/token', { response, ...body }),
    refresh: () => post('/v1/auth/refresh', {}),
  }
}

type Browser = ReturnType<typeof browserOf>

const enter = async (browser: Browser, account: string) =>
  browser.finish(await signInAtProvider(await browser.start(), account))

const emailOf = async (service: TestServer, token: string) =>
  (await service.request('GET', '/v1/auth/me', { token })).body.user?.email

const users = async (service: TestServer) =>
  (await service.parts.administration.users()).map(({ email }) => email)

for (const database of databaseKinds) {
  test(`a user signs in by single sign-on and has one account with mailed links (${database})`, async (t) => {
    const { service, provider, browser } = await openSignOn(t, {}, { database })
    const byMail = await signIn(service, 'ada@example.org')
    const entered = await enter(browser(), 'ada')
    assert.equal(entered.status, 200, entered.text)
    const me = await service.request('GET', '/v1/auth/me', { token: entered.body.accessToken })
    assert.deepEqual([me.body.user.id, me.body.organization.id], [byMail.userId, byMail.organizationId])
    // Again, and in a cookie.
    const second = browser()
    const inCookie = await second.finish(await signInAtProvider(await second.start(), 'ada'), {
      cookie: true,
    })
    assert.deepEqual([inCookie.status, inCookie.body.refreshToken], [200, undefined])
    assert.equal((await second.refresh()).status, 200)
    assert.ok(!second.cookies.has('wayleave_sign_on'))

    // A new user gets an organization, as by a link.
    provider.accounts.set('bob', { email: 'bob@example.org', email_verified: true })
    const bob = await enter(browser(), 'bob')
    const { body } = await service.request('GET', '/v1/auth/me', { token: bob.body.accessToken })
    assert.deepEqual([body.user.email, body.organization.name], ['bob@example.org', "bob's organization"])
    const { db } = service.parts.database
    const events = await db
      .selectFrom('events')
      .select('detail')
      .where('action', '=', 'session.started')
      .execute()
    assert.deepEqual(
      events.map(({ detail }) => JSON.parse(detail).by),
      ['link', 'sign-on', 'sign-on', 'sign-on'],
    )
  })

  test(`another account with the address of a user, and an account with another address, are refused (${database})`, async (t) => {
    const { service, provider, browser } = await openSignOn(t, {}, { database })
    assert.equal((await enter(browser(), 'ada')).status, 200)
    // The address is given to another person.
    provider.accounts.set('ada2', { email: 'ada@example.org', email_verified: true })
    const other = await enter(browser(), 'ada2')
    assert.deepEqual([other.status, other.body.code], [401, 'sign-on-failed'])
    // The account gets another address: a new one, and that of another user.
    await signIn(service, 'root@example.org')
    for (const email of ['new@example.org', 'root@example.org']) {
      provider.accounts.set('ada', { email, email_verified: true })
      assert.equal((await enter(browser(), 'ada')).body.code, 'sign-on-failed', email)
    }
    assert.deepEqual(await users(service), ['ada@example.org', 'root@example.org'])
    provider.accounts.set('ada', { email: 'ada@example.org', email_verified: true })
    assert.equal((await enter(browser(), 'ada')).status, 200)
    // The operator says that the other account is the user's now.
    const [ada] = await service.parts.administration.users()
    const unlinked = await runCommand(service.config, 'user', 'unlink', ada!.id, '--json')
    assert.deepEqual(unlinked.json, { id: ada!.id, wasLinked: true })
    assert.equal((await enter(browser(), 'ada2')).status, 200)
    assert.equal((await enter(browser(), 'ada')).status, 401)
  })
}

test('only an address that the provider has verified signs in', async (t) => {
  const { service, provider, browser } = await openSignOn(t)
  await signIn(service, 'ada@example.org')
  for (const claims of [
    { email: 'ada@example.org' },
    { email: 'ada@example.org', email_verified: false },
    { email: 'ada@example.org', email_verified: 'true' },
    { email: 'ada@example.org', email_verified: 1 },
    { email: 'not an address', email_verified: true },
    { email_verified: true },
    {},
  ]) {
    provider.accounts.set('eve', claims)
    const refused = await enter(browser(), 'eve')
    assert.deepEqual([refused.status, refused.body.code], [401, 'sign-on-failed'], JSON.stringify(claims))
  }
})

test('only addresses of the allowed domains sign in', async (t) => {
  const { provider, browser } = await openSignOn(t, { oidcDomains: ['Example.org'] })
  const attempt = async (email: string) => {
    provider.accounts.set(email, { email, email_verified: true })
    return (await enter(browser(), email)).status
  }
  assert.equal(await attempt('bob@EXAMPLE.org'), 200)
  for (const email of [
    'bob@example.org.evil.example',
    'bob@sub.example.org',
    'bob@notexample.org',
    'bob@example.com',
  ])
    assert.equal(await attempt(email), 401, email)
})

test('sign-on follows the rules of sign-up, and blocked users stay out', async (t) => {
  const { service, browser } = await openSignOn(t, { signUp: 'invite' })
  assert.equal((await enter(browser(), 'ada')).status, 401)
  const { id } = await service.parts.organizations.create(operator, 'Survey')
  const { userId } = await service.parts.members.add(operator, id, 'ada@example.org')
  assert.equal((await enter(browser(), 'ada')).status, 200)
  await service.parts.userAdministration.block(operator, userId, 'Left the company')
  assert.equal((await enter(browser(), 'ada')).status, 401)
})

test('the code of another session is refused: login CSRF and code injection', async (t) => {
  const { service, provider, browser } = await openSignOn(t)
  provider.accounts.set('eve', { email: 'eve@example.org', email_verified: true })
  const [victim, attacker] = [browser(), browser()]
  // Eve makes the browser of the victim redeem her response: without a sign-in there, and during one.
  const response = await signInAtProvider(await attacker.start(), 'eve')
  const before = provider.requests.length
  assert.equal((await victim.finish(response)).body.code, 'sign-on-failed')
  await victim.start()
  assert.equal((await victim.finish(response)).body.code, 'sign-on-failed')
  assert.ok(!provider.requests.slice(before).includes('POST /token'), 'the code is not sent anywhere')
  // A stolen code, injected with the attacker's own state: PKCE and nonce are of another browser.
  const stolen = new URLSearchParams(await signInAtProvider(await victim.start(), 'ada'))
  const own = new URL(await attacker.start()).searchParams
  stolen.set('state', own.get('state')!)
  assert.equal((await attacker.finish(`?${stolen}`)).body.code, 'sign-on-failed')
  // The first attempt failed, so the cookie is gone.
  assert.equal((await attacker.finish(`?${stolen}`)).body.code, 'sign-on-failed')
  assert.deepEqual(await users(service), [])
})

test('a response works once, and not with missing, doubled or changed parameters', async (t) => {
  const { service, provider, browser } = await openSignOn(t)
  const used = browser()
  const response = await signInAtProvider(await used.start(), 'ada')
  const cookie = used.cookies.get('wayleave_sign_on')!
  assert.equal((await used.finish(response)).status, 200)
  used.cookies.set('wayleave_sign_on', cookie)
  assert.equal((await used.finish(response)).body.code, 'sign-on-failed', 'replayed')

  const changes: Record<string, (query: URLSearchParams) => void> = {
    'no state': (query) => query.delete('state'),
    'another state': (query) => query.set('state', 'x'.repeat(43)),
    'two states': (query) => query.append('state', 'x'),
    'no code': (query) => query.delete('code'),
    'another code': (query) => query.set('code', 'x'),
    'mix-up: another issuer': (query) => query.set('iss', 'https://evil.example'),
    'mix-up: no issuer': (query) => query.delete('iss'),
    'an error': (query) => query.set('error', 'access_denied'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const one = browser()
    const query = new URLSearchParams(await signInAtProvider(await one.start(), 'ada'))
    change(query)
    const refused = await one.finish(`?${query}`)
    assert.deepEqual([refused.status, refused.body.code], [401, 'sign-on-failed'], name)
    assert.ok(!one.cookies.has('wayleave_sign_on'), name)
  }
  assert.deepEqual(await users(service), ['ada@example.org'])
  assert.ok(provider.requests.includes('POST /token'))
})

test('the request to the provider has PKCE, state, nonce and the one redirect URI', async (t) => {
  const { service, browser } = await openSignOn(t)
  const ask = async (headers: Record<string, string> = {}) =>
    new URL((await service.request('POST', '/v1/auth/oidc', { headers })).body.url).searchParams
  const [first, second] = [await ask({ 'x-forwarded-host': 'evil.example' }), await ask()]
  assert.deepEqual(
    ['response_type', 'scope', 'code_challenge_method', 'redirect_uri'].map((name) => first.get(name)),
    ['code', 'openid email', 'S256', `${service.url}/sign-in`],
  )
  for (const name of ['state', 'nonce', 'code_challenge']) {
    assert.match(first.get(name)!, /^[\w-]{43}$/)
    assert.notEqual(first.get(name), second.get(name))
  }
  const { headers } = await browser().begin()
  assert.match(headers.get('set-cookie')!, /Path=\/v1\/auth; Max-Age=600; HttpOnly; SameSite=Strict/)
  // Pages of other sites can neither begin nor end a sign-in.
  for (const path of ['/v1/auth/oidc', '/v1/auth/oidc/token']) {
    const cross = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const refused = await service.request('POST', path, { headers: cross })
    assert.equal(refused.body.code, 'origin-refused')
  }
})

test('while the provider is down, links work, and sign-on works again afterwards', async (t) => {
  const { service, provider, browser } = await openSignOn(t)
  for (const failure of ['reset', 'error'] as const) {
    provider.failure = failure
    const refused = await browser().begin()
    assert.deepEqual([refused.status, refused.body.code], [503, 'sign-on-unavailable'], failure)
    assert.ok(refused.headers.get('retry-after'))
  }
  assert.equal(await emailOf(service, (await signIn(service, 'ada@example.org')).token), 'ada@example.org')
  provider.failure = 'none'
  assert.equal((await enter(browser(), 'ada')).status, 200)
  // It breaks down between both steps.
  const one = browser()
  const response = await signInAtProvider(await one.start(), 'ada')
  provider.failure = 'error'
  assert.equal((await one.finish(response)).body.code, 'sign-on-unavailable')
  provider.failure = 'none'
  assert.equal((await enter(browser(), 'ada')).status, 200)
  assert.ok(!service.logLines.some((line) => line.includes(CLIENT.oidcClientSecret)))
})

test('keys that the provider has rotated are used at once', async (t) => {
  const { provider, browser } = await openSignOn(t)
  for (let round = 0; round < 3; round++) {
    assert.equal((await enter(browser(), 'ada')).status, 200)
    provider.rotateKeys()
  }
})

test('with single sign-on alone, links and codes do not work, not even those sent before', async (t) => {
  const { service: before, provider } = await openSignOn(t)
  const { token } = await askForLink(before, 'ada@example.org')
  await before.stop()
  const service = await openTestServer(t, {
    dataDir: before.config.dataDir,
    settings: { signIn: 'oidc', oidcIssuer: provider.issuer, ...CLIENT },
  })
  const attempts: [string, object][] = [
    ['/v1/auth/magic-link', { email: 'ada@example.org' }],
    ['/v1/auth/token', { token }],
    ['/v1/auth/token', { email: 'ada@example.org', code: '123456' }],
  ]
  for (const [path, body] of attempts) {
    const refused = await service.request('POST', path, { body })
    assert.deepEqual([refused.status, refused.body.code], [403, 'sign-in-method-off'])
  }
})

test('without its settings, single sign-on does not start, and by default it is not offered', async (t) => {
  await assert.rejects(openTestServer(t, { settings: { signIn: 'both' } }), /WAYLEAVE_OIDC_ISSUER/)
  const service = await openTestServer(t)
  assert.equal((await fetch(`${service.url}/v1/auth/oidc`, { method: 'POST' })).status, 404)
})
