import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { SECOND } from '../../base/clock.ts'
import type { Origin } from '../../base/events/events.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import { readCookie, strictCookie } from '../../http/headers.ts'
import type { Identity } from './identity.ts'
import { SESSION_LIFETIME } from './sessions.ts'
import type { Entry } from './sign-in.ts'

const COOKIE = 'wayleave_refresh'
const SIGN_ON_COOKIE = 'wayleave_sign_on'

export const UseCookie = Type.Boolean({
  description: 'Keep the refresh token in an HttpOnly cookie instead of returning it.',
})
export const Tokens = Type.Object({
  accessToken: Type.String(),
  tokenType: Type.Literal('Bearer'),
  expiresIn: Type.Integer({ description: 'Seconds.' }),
  refreshToken: Type.Optional(Type.String()),
})

/** The actor is unknown before the credentials are checked: the code that records the event sets it. */
export function originOf(request: FastifyRequest): Origin {
  return { actor: 'system', address: request.ip, requestId: request.id }
}

/** Sends the tokens of a session. The refresh token is in the body or in an HttpOnly cookie. */
export class SessionReplies {
  readonly #accessTokens: Identity['accessTokens']
  readonly #baseUrl: BaseUrl

  constructor({ accessTokens }: Pick<Identity, 'accessTokens'>, baseUrl: BaseUrl) {
    this.#accessTokens = accessTokens
    this.#baseUrl = baseUrl
  }

  /** `otherCookie` is set too. */
  async tokens(reply: FastifyReply, entry: Entry, useCookie: boolean, otherCookie?: string) {
    const { user, refreshToken, sessionId, organizationId } = entry
    const { id: userId, email } = user
    const issued = await this.#accessTokens.issue({ userId, email, sessionId, organizationId })
    reply.header('cache-control', 'no-store')
    if (otherCookie !== undefined) reply.header('set-cookie', otherCookie)
    if (useCookie) reply.header('set-cookie', this.#cookie(COOKIE, refreshToken, SESSION_LIFETIME / SECOND))
    const tokens = { ...issued, tokenType: 'Bearer' as const }
    return useCookie ? tokens : { ...tokens, refreshToken }
  }

  /** The refresh token in the cookie of a request. */
  tokenIn(request: FastifyRequest): string | undefined {
    return readCookie(request, this.#nameOf(COOKIE))
  }

  clearCookie(reply: FastifyReply): void {
    reply.header('set-cookie', this.#cookie(COOKIE, '', 0))
  }

  /** The cookie that binds the response of the provider of single sign-on to a browser. */
  signOnCookie(value: string, maxAge: number): string {
    return this.#cookie(SIGN_ON_COOKIE, value, maxAge)
  }

  signOnValueIn(request: FastifyRequest): string | undefined {
    return readCookie(request, this.#nameOf(SIGN_ON_COOKIE))
  }

  #isSecure(): boolean {
    return this.#baseUrl.settled().startsWith('https:')
  }

  /** Browsers accept a cookie with this prefix over HTTPS only, so that no page over HTTP can plant one. */
  #nameOf(cookie: string): string {
    return this.#isSecure() ? `__Secure-${cookie}` : cookie
  }

  #cookie(cookie: string, value: string, maxAge: number): string {
    return strictCookie(this.#nameOf(cookie), value, {
      path: `${new URL(this.#baseUrl.settled()).pathname.replace(/\/$/, '')}/v1/auth`,
      maxAge,
      secure: this.#isSecure(),
    })
  }
}
