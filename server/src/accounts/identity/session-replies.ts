import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECOND } from '../../base/clock.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import { readCookie, strictCookie } from '../../http/headers.ts'
import type { Identity } from './identity.ts'
import { SESSION_LIFETIME } from './sessions.ts'
import type { Entry } from './sign-in.ts'

const COOKIE = 'wayleave_refresh'

/** Sends the tokens of a session. The refresh token is in the body or in an HttpOnly cookie. */
export class SessionReplies {
  readonly #accessTokens: Identity['accessTokens']
  readonly #baseUrl: BaseUrl

  constructor({ accessTokens }: Pick<Identity, 'accessTokens'>, baseUrl: BaseUrl) {
    this.#accessTokens = accessTokens
    this.#baseUrl = baseUrl
  }

  async tokens(reply: FastifyReply, entry: Entry, useCookie: boolean) {
    const { user, refreshToken, sessionId, organizationId } = entry
    const { id: userId, email } = user
    const issued = await this.#accessTokens.issue({ userId, email, sessionId, organizationId })
    reply.header('cache-control', 'no-store')
    if (useCookie) reply.header('set-cookie', this.#cookie(refreshToken, SESSION_LIFETIME / SECOND))
    const tokens = { ...issued, tokenType: 'Bearer' as const }
    return useCookie ? tokens : { ...tokens, refreshToken }
  }

  /** The refresh token in the cookie of a request. */
  tokenIn(request: FastifyRequest): string | undefined {
    return readCookie(request, this.#cookieName())
  }

  clearCookie(reply: FastifyReply): void {
    reply.header('set-cookie', this.#cookie('', 0))
  }

  #isSecure(): boolean {
    return this.#baseUrl.settled().startsWith('https:')
  }

  /** Browsers accept a cookie with this prefix over HTTPS only, so that no page over HTTP can plant one. */
  #cookieName(): string {
    return this.#isSecure() ? `__Secure-${COOKIE}` : COOKIE
  }

  #cookie(value: string, maxAge: number): string {
    return strictCookie(this.#cookieName(), value, {
      path: `${new URL(this.#baseUrl.settled()).pathname.replace(/\/$/, '')}/v1/auth`,
      maxAge,
      secure: this.#isSecure(),
    })
  }
}
