import * as openid from 'openid-client'
import type { Logger } from 'pino'
import { type Clock, MINUTE, SECOND } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'

const REQUEST_SECONDS = 5
const METADATA_LIFETIME = 10 * MINUTE
/** The provider's clock may differ by this many seconds. */
const CLOCK_TOLERANCE = 60

export interface SignOnProviderOptions {
  issuer: string
  clientId: string
  clientSecret: string | null
  clock: Clock
  log: Logger
}

/** What binds the response of the provider to the browser that asked for it. */
export interface SignOnRequest {
  state: string
  nonce: string
  codeVerifier: string
}

/** Who signed in, as the provider says. */
export interface SignOnIdentity {
  issuer: string
  subject: string
  email: string | undefined
  isEmailVerified: boolean
}

/**
 * A provider of single sign-on by OpenID Connect: the authorization code flow with PKCE, state and nonce, as RFC 9700
 * recommends. Its tokens are used for one request and are not stored.
 */
export class SignOnProvider {
  readonly #options: SignOnProviderOptions
  #metadata: { read: Promise<openid.ServerMetadata>; at: number } | null = null

  constructor(options: SignOnProviderOptions) {
    this.#options = options
  }

  /** The address at the provider to which the browser goes. */
  start(redirectUri: string): Promise<{ url: string; request: SignOnRequest }> {
    return this.#attempt(async (config) => {
      const request = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        codeVerifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        response_type: 'code',
        state: request.state,
        nonce: request.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(request.codeVerifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, request }
    })
  }

  /** `query` is what the provider added to the redirect URI. Throws unless it is the response to this request. */
  finish(redirectUri: string, query: string, request: SignOnRequest): Promise<SignOnIdentity> {
    const callback = new URL(redirectUri)
    callback.search = query
    return this.#attempt(async (config) => {
      const tokens = await openid.authorizationCodeGrant(config, callback, {
        expectedState: request.state,
        expectedNonce: request.nonce,
        pkceCodeVerifier: request.codeVerifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      const { email, email_verified: isEmailVerified } =
        claims['email'] === undefined
          ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
          : claims
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: typeof email === 'string' ? email : undefined,
        isEmailVerified: isEmailVerified === true,
      }
    })
  }

  async #attempt<T>(work: (config: openid.Configuration) => Promise<T>): Promise<T> {
    const connection = new Connection()
    try {
      return await work(await this.#configuration(connection))
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      const isOutage = connection.hasFailed || code === 'OAUTH_TIMEOUT'
      // Messages of the library contain no tokens; their causes may.
      this.#options.log.warn(
        { failure: message, code, isOutage },
        'A sign-in by single sign-on failed at the provider.',
      )
      if (isOutage) throw new Problem('sign-on-unavailable', undefined, { headers: { 'retry-after': '30' } })
      throw new Problem('sign-on-failed')
    }
  }

  /**
   * A configuration of its own for each use: the library keeps the provider's keys with it, so they are read each
   * time, and a key that the provider has added or withdrawn counts at once.
   */
  async #configuration(connection: Connection): Promise<openid.Configuration> {
    const { clientId, clientSecret, clock } = this.#options
    const metadata = await this.#readMetadata(connection)
    const config = new openid.Configuration(
      { ...metadata },
      clientId,
      {
        [openid.clockTolerance]: CLOCK_TOLERANCE,
        [openid.clockSkew]: Math.round((clock().getTime() - Date.now()) / SECOND),
      },
      authenticationOf(metadata, clientSecret),
    )
    connection.use(config, this.#options.issuer)
    // The signature of the ID token is checked too, although it comes directly from the provider.
    openid.enableNonRepudiationChecks(config)
    return config
  }

  /** Single-flight; a failure is not kept. */
  #readMetadata(connection: Connection): Promise<openid.ServerMetadata> {
    const now = performance.now()
    if (this.#metadata === null || now - this.#metadata.at > METADATA_LIFETIME) {
      const read = this.#discover(connection)
      this.#metadata = { read, at: now }
      read.catch(() => {
        this.#metadata = null
      })
    }
    return this.#metadata.read
  }

  async #discover(connection: Connection): Promise<openid.ServerMetadata> {
    const { issuer, clientId } = this.#options
    const config = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
      timeout: REQUEST_SECONDS,
      [openid.customFetch]: connection.fetch,
      execute: isPlain(issuer) ? [openid.allowInsecureRequests] : [],
    })
    return config.serverMetadata()
  }
}

/** The requests of one attempt; knows whether the provider could be reached. */
class Connection {
  hasFailed = false

  readonly fetch: openid.CustomFetch = async (url, options) => {
    try {
      const response = await fetch(url, { ...options, redirect: 'manual' } as RequestInit)
      this.hasFailed ||= response.status >= 500 || response.status === 429
      return response
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  use(config: openid.Configuration, issuer: string): void {
    config[openid.customFetch] = this.fetch
    config.timeout = REQUEST_SECONDS
    if (isPlain(issuer)) openid.allowInsecureRequests(config)
  }
}

/** The setting allows this on loopback only. */
function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:')
}

function authenticationOf(
  { token_endpoint_auth_methods_supported: methods }: openid.ServerMetadata,
  clientSecret: string | null,
): openid.ClientAuth {
  if (clientSecret === null) return openid.None()
  // The default of the standard, if the provider lists none.
  return methods === undefined || methods.includes('client_secret_basic')
    ? openid.ClientSecretBasic(clientSecret)
    : openid.ClientSecretPost(clientSecret)
}
