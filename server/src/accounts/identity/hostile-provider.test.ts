import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { CLIENT } from '../../../../scripts/test-servers/test-provider.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { openTestServer } from '../../testing/test-server.ts'

const { privateKey, publicKey } = await generateKeyPair('ES256')
const stranger = await generateKeyPair('ES256')
const now = () => Math.floor(Date.now() / 1000)

interface Script {
  /** Makes the ID token from the claims that a correct one has. */
  idToken: (claims: JWTPayload) => Promise<string>
  userInfo: Record<string, unknown>
  metadata: Record<string, unknown>
}

const signed = (claims: JWTPayload, key = privateKey, header: { alg?: string; kid?: string } = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(key)

/** A provider that sends what the test tells it to, to a service that trusts it. */
async function openHostile(t: TestContext) {
  const script: Script = { idToken: (claims) => signed(claims), userInfo: {}, metadata: {} }
  let nonce = ''
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, issuer)
    const send = (body: object) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (pathname === '/.well-known/openid-configuration') {
      return send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        userinfo_endpoint: `${issuer}/me`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
        ...script.metadata,
      })
    }
    if (pathname === '/keys') {
      return send({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] })
    }
    if (pathname === '/me') return send(script.userInfo)
    const claims = {
      iss: issuer,
      sub: 'ada',
      aud: CLIENT.oidcClientId,
      nonce,
      iat: now(),
      exp: now() + 300,
      email: 'ada@example.org',
      email_verified: true,
    }
    return send({ access_token: 'x', token_type: 'Bearer', id_token: await script.idToken(claims) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  cleanUp(t, () => {
    server.close()
    server.closeAllConnections()
  })
  const service = await openTestServer(t, {
    settings: { signIn: 'both', oidcIssuer: issuer, ...CLIENT },
  })
  const enter = async () => {
    const begun = await service.request('POST', '/v1/auth/oidc')
    if (begun.status !== 200) return begun
    const { searchParams } = new URL(begun.body.url)
    nonce = searchParams.get('nonce')!
    const cookie = begun.headers.get('set-cookie')!.split(';', 1)[0]!
    const response = `?${new URLSearchParams({ code: 'c', state: searchParams.get('state')! })}`
    return service.request('POST', '/v1/auth/oidc/token', { body: { response }, headers: { cookie } })
  }
  return { script, service, enter, issuer }
}

test('an ID token that is not exactly for this sign-in is refused', async (t) => {
  const { script, enter, service } = await openHostile(t)
  assert.equal((await enter()).status, 200)
  const hostile: Record<string, Script['idToken']> = {
    'of another issuer': (claims) => signed({ ...claims, iss: 'https://evil.example' }),
    'for another client': (claims) => signed({ ...claims, aud: 'another' }),
    'for several clients without azp': (claims) => signed({ ...claims, aud: [CLIENT.oidcClientId, 'b'] }),
    'with another nonce': (claims) => signed({ ...claims, nonce: 'x'.repeat(43) }),
    'without a nonce': ({ nonce: _, ...claims }) => signed(claims),
    'without a subject': ({ sub: _, ...claims }) => signed(claims),
    'signed by a stranger': (claims) => signed(claims, stranger.privateKey),
    'signed by a key that is not listed': (claims) => signed(claims, stranger.privateKey, { kid: 'two' }),
    'not signed': async (claims) => new UnsecuredJWT(claims).encode(),
    'signed with the client secret': (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(CLIENT.oidcClientSecret)),
    'that is no token': async () => 'x',
  }
  for (const [name, idToken] of Object.entries(hostile)) {
    script.idToken = idToken
    const refused = await enter()
    assert.deepEqual([refused.status, refused.body.code], [401, 'sign-on-failed'], name)
  }
  assert.equal((await service.parts.administration.users()).length, 1)
})

test('the provider’s clock may differ by a minute, not by hours', async (t) => {
  const { script, enter } = await openHostile(t)
  const shifted = (seconds: number) => {
    script.idToken = (claims) =>
      signed({ ...claims, iat: now() + seconds, nbf: now() + seconds, exp: now() + seconds + 30 })
    return enter()
  }
  assert.equal((await shifted(40)).status, 200)
  assert.equal((await shifted(-60)).status, 200)
  assert.equal((await shifted(3600)).status, 401)
  assert.equal((await shifted(-3600)).status, 401)
})

test('the mail address may come from the user info, but of the same subject only', async (t) => {
  const { script, enter } = await openHostile(t)
  script.idToken = ({ email: _, email_verified: __, ...claims }) => signed(claims)
  script.userInfo = { sub: 'eve', email: 'ada@example.org', email_verified: true }
  assert.equal((await enter()).status, 401)
  script.userInfo = { sub: 'ada', email: 'ada@example.org', email_verified: true }
  assert.equal((await enter()).status, 200)
  // A verification of another address in the user info does not count for the one of the ID token.
  script.idToken = ({ email_verified: _, ...claims }) => signed({ ...claims, email: 'root@example.org' })
  assert.equal((await enter()).status, 401)
})

test('metadata of another issuer is not believed', async (t) => {
  const { script, enter } = await openHostile(t)
  script.metadata = { issuer: 'https://evil.example' }
  assert.equal((await enter()).body.code, 'sign-on-failed')
})
