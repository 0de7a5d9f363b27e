import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { MINUTE, SECOND } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { tags } from '../../http/openapi.ts'
import type { SessionReplies } from './session-replies.ts'
import { originOf, Tokens, UseCookie } from './session-replies.ts'
import type { SignOnRequest } from './sign-on-provider.ts'
import type { SingleSignOn } from './single-sign-on.ts'

/** The time to sign in at the provider. */
const REQUEST_LIFETIME = 10 * MINUTE
/** State, nonce and PKCE verifier, each 32 random bytes in base64url. */
const REQUEST = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/

export interface SignOnRoutesDeps {
  singleSignOn: SingleSignOn
  replies: SessionReplies
  /** Limits the requests of a network address. */
  byAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

/** Sign-in by OpenID Connect, for the console. */
export function signOnRoutes(app: App, { singleSignOn, replies, byAddress }: SignOnRoutesDeps): void {
  app.post('/v1/auth/oidc', {
    onRequest: [byAddress, withoutBody],
    schema: {
      tags: [tags.signIn],
      summary: 'Begin to sign in by single sign-on',
      problems: ['sign-on-unavailable', 'sign-on-failed'],
      description:
        'Returns the address at the provider that the browser goes to. A cookie binds its response to this browser for 10 minutes.',
      response: { 200: Type.Object({ url: Type.String() }) },
    },
    handler: async (_request, reply) => {
      const { url, request } = await singleSignOn.start()
      const value = [request.state, request.nonce, request.codeVerifier].join('.')
      reply.header('cache-control', 'no-store')
      reply.header('set-cookie', replies.signOnCookie(value, REQUEST_LIFETIME / SECOND))
      return { url }
    },
  })

  app.post('/v1/auth/oidc/token', {
    onRequest: byAddress,
    schema: {
      tags: [tags.signIn],
      summary: 'Sign in with the response of the provider of single sign-on',
      problems: ['sign-on-unavailable', 'sign-on-failed'],
      description:
        'For the page that the provider has returned the browser to. `response` is the query of its address. It works once, and only in the browser in which the sign-in began.',
      body: Type.Object(
        {
          response: Type.String({ minLength: 1, maxLength: 8000 }),
          cookie: Type.Optional(UseCookie),
        },
        { additionalProperties: false },
      ),
      response: { 200: Tokens },
    },
    handler: async (request, reply) => {
      const signOnRequest = requestIn(replies.signOnValueIn(request))
      const { response, cookie } = request.body
      try {
        const entry = await singleSignOn.finish(response, signOnRequest, originOf(request))
        return await replies.tokens(reply, entry, cookie === true, replies.signOnCookie('', 0))
      } catch (error) {
        // A response that failed cannot be tried again with other parameters.
        reply.header('set-cookie', replies.signOnCookie('', 0))
        throw error
      }
    },
  })
}

function requestIn(value: string | undefined): SignOnRequest {
  const [, state, nonce, codeVerifier] = REQUEST.exec(value ?? '') ?? []
  if (state === undefined || nonce === undefined || codeVerifier === undefined) {
    throw new Problem(
      'sign-on-failed',
      'The sign-in did not begin in this browser, or longer than 10 minutes ago.',
    )
  }
  return { state, nonce, codeVerifier }
}
