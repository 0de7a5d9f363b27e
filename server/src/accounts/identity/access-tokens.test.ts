import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { signIn } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  testOnce,
} from '../../testing/test-server.ts'

const me = async (service: TestServer, token: string) =>
  (await service.request('GET', '/v1/auth/me', { token })).status

const keys = async (service: TestServer): Promise<JWK[]> =>
  (await service.request('GET', '/.well-known/jwks.json')).body.keys

for (const database of databaseKinds) {
  const guarantee = (name: string, run: (t: TestContext) => Promise<void>) =>
    test(`${name} (${database})`, run)
  const once = (name: string, run: (t: TestContext) => Promise<void>) => testOnce(database, name, run)

  once('an access token is an EdDSA token of 15 minutes that the published keys verify', async (t) => {
    const settings = { baseUrl: 'https://data.example.org' }
    const service = await openTestServer(t, { database, settings })
    const { token, userId } = await signIn(service, 'ada@example.org')
    const { alg, kid } = decodeProtectedHeader(token)
    const [jwk] = await keys(service)
    assert.deepEqual([alg, kid], ['EdDSA', jwk!.kid])
    assert.deepEqual([jwk!.kty, jwk!.crv, jwk!.use, 'd' in jwk!], ['OKP', 'Ed25519', 'sig', false])
    const { payload } = await jwtVerify(token, await importJWK(jwk!, 'EdDSA'))
    assert.deepEqual([payload.iss, payload.aud, payload.sub], [settings.baseUrl, 'wayleave', userId])
    assert.equal(payload.exp! - payload.iat!, 900)
  })

  once('an expired token is 401', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const { token } = await signIn(service, 'ada@example.org')
    pass(14 * MINUTE)
    assert.equal(await me(service, token), 200)
    pass(MINUTE)
    const answer = await service.request('GET', '/v1/auth/me', { token })
    assert.equal(answer.status, 401)
    assert.equal(answer.body.code, 'token-invalid')
    assert.match(answer.headers.get('www-authenticate')!, /^Bearer error="invalid_token"/)
  })

  guarantee('rotating the signing key signs nobody out, and new tokens have the new key', async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const old = await signIn(service, 'ada@example.org')
    const { kid } = await service.parts.identity.signingKeys.rotate(operator)
    assert.equal(await me(service, old.token), 200)
    const renewed = await service.request('POST', '/v1/auth/refresh', {
      body: { refreshToken: old.refreshToken },
    })
    assert.equal(renewed.status, 200)
    assert.equal(decodeProtectedHeader(renewed.body.accessToken).kid, kid)
    assert.equal(await me(service, renewed.body.accessToken), 200)
    assert.equal((await keys(service)).length, 2)
    pass(17 * MINUTE)
    assert.deepEqual(
      (await keys(service)).map((key) => key.kid),
      [kid],
    )
    const rows = await service.parts.database.db.selectFrom('signing_keys').selectAll().execute()
    assert.deepEqual(
      rows.filter((row) => row.private_jwk !== '').map((row) => row.kid),
      [kid],
    )
  })

  guarantee(
    'the command that rotates the key is in force for the next request of a running server',
    async (t) => {
      const service = await openTestServer(t, { database })
      const old = await signIn(service, 'ada@example.org')
      const { code, json } = await runCommand(service.config, 'rotate-signing-key', '--json')
      assert.equal(code, 0)
      const { token } = await signIn(service, 'ada@example.org')
      assert.equal(decodeProtectedHeader(token).kid, json.kid)
      assert.deepEqual([await me(service, old.token), await me(service, token)], [200, 200])
    },
  )
}

test('a token with alg none, a foreign key, issuer or audience, or any part changed is 401', async (t) => {
  const service = await openTestServer(t)
  const { token, userId } = await signIn(service, 'ada@example.org')
  const claims = decodeJwt(token)
  const header = decodeProtectedHeader(token)
  const { privateKey } = await service.parts.identity.signingKeys.current()
  const foreign = await generateKeyPair('EdDSA')
  const [jwk] = await keys(service)
  const sign = (changes: object, key = privateKey, headerChanges: object = {}) =>
    new SignJWT({ ...claims, ...changes })
      .setProtectedHeader({ alg: 'EdDSA', ...header, ...headerChanges })
      .sign(key)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [head, body, signature] = token.split('.')

  assert.equal(await me(service, await sign({})), 200)
  const refused: [name: string, token: string][] = [
    ['alg none', `${part({ ...header, alg: 'none' })}.${body}.`],
    ['alg none with a signature', `${part({ ...header, alg: 'none' })}.${body}.${signature}`],
    ['a foreign key', await sign({}, foreign.privateKey)],
    ['a foreign key under a kid of its own', await sign({}, foreign.privateKey, { kid: 'foreign' })],
    ['no kid', await sign({}, privateKey, { kid: undefined })],
    ['a foreign issuer', await sign({ iss: 'https://evil.example' })],
    ['no issuer', await sign({ iss: undefined })],
    ['a foreign audience', await sign({ aud: 'another' })],
    ['another type', await sign({}, privateKey, { typ: 'JWT' })],
    ['no expiry', await sign({ exp: undefined })],
    ['no subject', await sign({ sub: undefined })],
    ['an expiry in the past', await sign({ exp: claims.exp! - 3600 })],
    ['changed claims', `${head}.${part({ ...claims, sub: 'usr_00000000000000000000' })}.${signature}`],
    [
      'a changed signature',
      `${head}.${body}.${signature!.startsWith('A') ? 'B' : 'A'}${signature!.slice(1)}`,
    ],
    [
      'the public key as a shared secret',
      await new SignJWT(claims)
        .setProtectedHeader({ ...header, alg: 'HS256' })
        .sign(new TextEncoder().encode(JSON.stringify(jwk))),
    ],
    ['a key inside the token', await sign({}, foreign.privateKey, { jwk: { kty: 'OKP' } })],
    ['half a token', `${head}.${body}`],
    ['a user id', userId],
  ]
  for (const [name, forged] of refused) assert.equal(await me(service, forged), 401, name)
})

test('a token is accepted only in the Authorization header', async (t) => {
  const service = await openTestServer(t)
  const { token } = await signIn(service, 'ada@example.org')
  const none = await service.request('GET', '/v1/auth/me')
  assert.deepEqual([none.status, none.body.code], [401, 'token-missing'])
  assert.equal(none.headers.get('www-authenticate'), 'Bearer')
  assert.equal((await service.request('GET', `/v1/auth/me?access_token=${token}`)).status, 401)
  assert.equal((await service.request('GET', '/v1/auth/me', { key: token })).status, 401)
})

test('nodes that start at the same instant share one signing key, and learn of a new one at once', {
  skip: lacks('postgres'),
}, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const [one, two] = await Promise.all([
    openTestServer(t, { databaseUrl }),
    openTestServer(t, { databaseUrl }),
  ])
  const [first, second] = await Promise.all([keys(one), keys(two)])
  assert.equal(first.length, 1)
  assert.deepEqual(first, second)
  const { token } = await signIn(one, 'ada@example.org')
  assert.equal(await me(two, token), 200)
  const { kid } = await one.parts.identity.signingKeys.rotate(operator)
  const later = await signIn(two, 'ada@example.org')
  assert.equal(decodeProtectedHeader(later.token).kid, kid)
  assert.deepEqual([await me(one, later.token), await me(two, token)], [200, 200])
})
