import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export const CLIENT = { oidcClientId: 'wayleave', oidcClientSecret: 'a secret of the client' }

export interface TestProvider {
  issuer: string
  /** What the provider says about its accounts, by the name that is entered at sign-in. */
  accounts: Map<string, { email?: string; email_verified?: unknown }>
  /** Replaces the keys that sign ID tokens. */
  rotateKeys(): void
  /** Refuses or resets every request until it is set back. */
  failure: 'none' | 'error' | 'reset'
  /** Every request to the provider, as `METHOD /path`. */
  requests: string[]
  close(): Promise<void>
}

/** A real provider of OpenID Connect with a form to sign in, on loopback. */
export async function openTestProvider(redirectUri: () => string): Promise<TestProvider> {
  const accounts: TestProvider['accounts'] = new Map()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let kid = 0
  let handle: (request: IncomingMessage, response: ServerResponse) => void
  const build = () => {
    handle = makeProvider(issuer, `key-${++kid}`, accounts, redirectUri).callback()
  }
  build()
  const provider: TestProvider = {
    issuer,
    accounts,
    rotateKeys: build,
    failure: 'none',
    requests: [],
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    provider.requests.push(`${request.method} ${new URL(request.url!, issuer).pathname}`)
    if (provider.failure === 'reset') return void request.socket.destroy()
    if (provider.failure === 'error') return void response.writeHead(502).end('Bad gateway')
    handle(request, response)
  })
  return provider
}

function makeProvider(
  issuer: string,
  kid: string,
  accounts: TestProvider['accounts'],
  redirectUri: () => string,
): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.oidcClientId,
        client_secret: CLIENT.oidcClientSecret,
        redirect_uris: [redirectUri()],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' }] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key of the test'] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...accounts.get(id) }),
    }),
  })
  return provider
}

/**
 * Signs in at the provider as a browser does, and returns the query that the provider adds to the redirect URI.
 * `cookies` are those of the browser at the provider.
 */
export async function signInAtProvider(
  authorizationUrl: string,
  account: string,
  cookies = new Map<string, string>(),
): Promise<string> {
  const { origin } = new URL(authorizationUrl)
  let next: { url: string; form?: URLSearchParams } = { url: authorizationUrl }
  for (let step = 0; step < 12; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie },
      ...(next.form && { method: 'POST', body: next.form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split(/=(.*)/s)
      cookies.set(name!, value!)
    }
    const location = response.headers.get('location')
    const text = await response.text()
    if (location !== null) {
      const url = new URL(location, next.url)
      if (url.origin !== origin) return url.search
      next = { url: url.href }
    } else {
      const action = /<form [^>]*action="([^"]+)"/.exec(text)?.[1]
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
      if (action === undefined || prompt === undefined) throw new Error(`The provider shows: ${text}`)
      next = { url: action, form: new URLSearchParams({ prompt, login: account }) }
    }
  }
  throw new Error('The provider does not return to the service.')
}
