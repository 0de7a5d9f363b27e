import { documentedAs, emailSchema as Email, meSchema } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JWK } from 'jose'
import { type Static, Type } from 'typebox'
import type { ControlDatabase } from '../../base/database/open.ts'
import { normalEmail } from '../../base/email.ts'
import { isLoopback } from '../../base/loopback.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { addressBucket } from '../../http/addresses.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { absentBodyIsEmpty, withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { newToken } from '../access/random-token.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { findUser } from '../users/user-store.ts'
import { type Identity, mailRate } from './identity.ts'
import { originOf, SessionReplies, Tokens, UseCookie } from './session-replies.ts'
import { signOnRoutes } from './sign-on-routes.ts'

export interface SignInRoutesDeps {
  identity: Identity
  organizations: Organizations
  database: ControlDatabase
  authenticate: Authenticate
  baseUrl: BaseUrl
  /** Max requests for a mail from one network address in 15 minutes. */
  addressRate: number
}

const OpaqueToken = Type.String({ minLength: 1, maxLength: 200 })
/** Lists the public properties only: a private part, if it were ever present, would not be serialized. */
const PublicKey = Type.Unsafe<JWK>(
  Type.Object({
    kty: Type.String(),
    crv: Type.String(),
    x: Type.String(),
    kid: Type.String(),
    alg: Type.String(),
    use: Type.String(),
  }),
)
const TokenBody = Type.Object(
  {
    token: Type.Optional(OpaqueToken),
    email: Type.Optional(Email),
    code: Type.Optional(Type.String({ pattern: '^[0-9]{6}$' })),
    request: Type.Optional(OpaqueToken),
    cookie: Type.Optional(UseCookie),
  },
  {
    additionalProperties: false,
    // `credentialsOf` enforces it, and names the member that is missing or too much.
    ...documentedAs({
      oneOf: [
        {
          required: ['token'],
          not: { anyOf: ['email', 'code', 'request'].map((name) => ({ required: [name] })) },
        },
        { required: ['email', 'code'], not: { required: ['token'] } },
      ],
    }),
  },
)
const RefreshBody = Type.Object(
  { refreshToken: Type.Optional(OpaqueToken), cookie: Type.Optional(UseCookie) },
  { additionalProperties: false },
)

/** A path of this site in ASCII: an address of another site, such as `//example.org`, does not match. */
const NEXT_PATH = '^/(?![/\\\\])[!-~]*$'

/** Sign-in, tokens, and the current user. */
export function signInRoutes(app: App, deps: SignInRoutesDeps): void {
  const { identity, authenticate, baseUrl } = deps
  const shared = {
    replies: new SessionReplies(identity, baseUrl),
    byAddress: (request: FastifyRequest, reply: FastifyReply) => authenticate.anonymous(request, reply),
  }
  mailRoute(app, deps)
  tokenRoute(app, identity, shared)
  if (identity.singleSignOn) signOnRoutes(app, { ...shared, singleSignOn: identity.singleSignOn })
  refreshRoute(app, identity, shared)
  signOutRoute(app, identity, shared)
  switchRoute(app, deps)
  callerRoute(app, deps)
  keysRoute(app, identity, shared)
  if (identity.demoMailer) demoMailRoute(app, identity.demoMailer, shared)
}

interface Shared {
  replies: SessionReplies
  /** Limits the requests of a network address. */
  byAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

function mailRoute(app: App, { identity, authenticate, addressRate }: SignInRoutesDeps): void {
  const mailsByAddress = (request: FastifyRequest, reply: FastifyReply) =>
    authenticate.limit(reply, 'sign-in', `sign-in:${addressBucket(request.ip)}`, mailRate(addressRate))
  app.post('/v1/auth/magic-link', {
    onRequest: mailsByAddress,
    schema: {
      tags: [tags.signIn],
      summary: 'Ask for a mail with a sign-in link and a code',
      problems: ['sign-in-method-off'],
      description:
        'Always responds the same, whether or not the address is known and whether or not a mail is sent: at most 5 go to one address in 15 minutes. The link and the code work once, for 15 minutes; only the code of the newest mail works. `request` in the response binds the code to the client that asked for it: sent with the code, the code has to be of this request. With `bind`, the code works only together with it.',
      body: Type.Object(
        {
          email: Email,
          bind: Type.Optional(Type.Boolean()),
          next: Type.Optional(
            Type.String({
              pattern: NEXT_PATH,
              maxLength: 2000,
              description: 'The page of the console to open after signing in by the link, such as `/keys`.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 202: Type.Object({ message: Type.String(), request: Type.String() }) },
    },
    handler: async (request, reply) => {
      requireMails(identity)
      const value = newToken()
      const { email, bind, next } = request.body
      identity.signIn.request(checkEmail(email), { request: value, isBound: bind === true }, next)
      const message = 'If this address may sign in, a mail is on its way to it.'
      return reply.code(202).header('cache-control', 'no-store').send({ message, request: value })
    },
  })
}

function tokenRoute(app: App, identity: Identity, { replies, byAddress }: Shared): void {
  const { signIn } = identity
  app.post('/v1/auth/token', {
    onRequest: byAddress,
    schema: {
      tags: [tags.signIn],
      summary: 'Sign in with the token of a link, or with an address and its code',
      description:
        'The body has either `token`, or `email` and `code`, and with these the `request` of the response to the request for the mail, if the client kept it.',
      problems: ['sign-in-failed', 'sign-in-method-off'],
      body: TokenBody,
      response: { 200: Tokens },
    },
    handler: async (request, reply) => {
      requireMails(identity)
      const credentials = credentialsOf(request.body)
      const entry =
        'token' in credentials
          ? await signIn.redeemLink(credentials.token, originOf(request))
          : await signIn.redeemCode(
              credentials.email,
              credentials.code,
              credentials.request,
              originOf(request),
            )
      return replies.tokens(reply, entry, request.body.cookie === true)
    },
  })
}

function refreshRoute(app: App, { sessions }: Identity, { replies, byAddress }: Shared): void {
  app.post('/v1/auth/refresh', {
    onRequest: [byAddress, withoutBody],
    preValidation: absentBodyIsEmpty,
    schema: {
      tags: [tags.signIn],
      summary: 'Exchange a refresh token for new tokens',
      problems: ['session-ended'],
      documented: { isBodyOptional: true },
      description:
        'Each refresh token works once; for 10 seconds more it returns the same successor. Later, its reuse ends the session. A session ends after 30 days without a refresh. Without `refreshToken` in the body, the cookie is used, and the response sets a new one.',
      body: RefreshBody,
      response: { 200: Tokens },
    },
    handler: async (request, reply) => {
      const { refreshToken } = request.body
      const token = refreshToken ?? replies.tokenIn(request)
      if (!token) throw new Problem('session-ended', 'The request carries no refresh token.')
      // A token that came in an HttpOnly cookie must not be returned in a body that scripts can read.
      const useCookie = refreshToken === undefined || request.body.cookie === true
      try {
        return await replies.tokens(reply, await sessions.refresh(token, originOf(request)), useCookie)
      } catch (error) {
        if (refreshToken === undefined && error instanceof Problem) replies.clearCookie(reply)
        throw error
      }
    },
  })
}

function signOutRoute(app: App, { sessions }: Identity, { replies, byAddress }: Shared): void {
  app.post('/v1/auth/sign-out', {
    onRequest: [byAddress, withoutBody],
    preValidation: absentBodyIsEmpty,
    schema: {
      tags: [tags.signIn],
      summary: 'End the session of a refresh token',
      documented: { isBodyOptional: true },
      description:
        'Ends the session of `refreshToken`, or of the cookie, with all its access tokens and session keys, and clears the cookie.',
      body: Type.Object({ refreshToken: Type.Optional(OpaqueToken) }, { additionalProperties: false }),
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      for (const token of [request.body.refreshToken, replies.tokenIn(request)]) {
        if (token) await sessions.end(token, originOf(request))
      }
      replies.clearCookie(reply)
      return reply.code(204).send(null)
    },
  })
}

function switchRoute(app: App, { identity, authenticate }: SignInRoutesDeps): void {
  app.post('/v1/auth/switch', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.signIn],
      security: security.token,
      summary: 'Act for another organization',
      problems: ['permission-missing', 'not-found'],
      description:
        'For a member of several organizations. The session acts for this one from now on: its refresh token stays the same, and returns tokens for it. The returned access token ends when the one of the request does. Tokens that were issued before stay tokens for their organization until they end. New sessions begin in the organization that was switched to last.',
      body: Type.Object(
        { organizationId: Type.String({ minLength: 1, maxLength: 100 }) },
        { additionalProperties: false },
      ),
      response: { 200: Tokens },
    },
    handler: async (request) => {
      const caller = authenticate.userOf(request)
      const { organizationId } = request.body
      await identity.sessions.switch(caller, organizationId)
      // A stolen token must not be extended again and again without the refresh token.
      const issued = await identity.accessTokens.issue({ ...caller, organizationId }, caller.tokenEndsAt)
      return { ...issued, tokenType: 'Bearer' as const }
    },
  })
}

function callerRoute(app: App, { database, organizations, authenticate }: SignInRoutesDeps): void {
  app.get('/v1/auth/me', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.signIn],
      summary: 'Who the caller is',
      security: security.token,
      response: { 200: meSchema },
    },
    handler: async (request) => {
      const caller = authenticate.userOf(request)
      const user = await findUser(database.db, caller.userId)
      if (!user) throw new Problem('token-invalid')
      const { administrator } = caller
      return { user, administrator, organization: await organizations.recordOf(caller) }
    },
  })
}

function keysRoute(app: App, { signingKeys }: Identity, { byAddress }: Shared): void {
  app.get('/.well-known/jwks.json', {
    onRequest: byAddress,
    schema: {
      tags: [tags.signIn],
      summary: 'The public keys that verify access tokens',
      response: { 200: Type.Object({ keys: Type.Array(PublicKey) }) },
    },
    handler: async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60')
      return signingKeys.jwks()
    },
  })
}

function demoMailRoute(
  app: App,
  demoMailer: NonNullable<Identity['demoMailer']>,
  { byAddress }: Shared,
): void {
  app.get('/v1/auth/demo-mail', {
    onRequest: byAddress,
    schema: {
      tags: [tags.signIn],
      summary: 'In a demo on loopback: the path of the newest link mailed to an address',
      problems: ['not-found'],
      querystring: Type.Object({ email: Email }, { additionalProperties: false }),
      response: { 200: Type.Object({ path: Type.String() }) },
    },
    handler: async (request, reply) => {
      // Prevents DNS rebinding: a name that an attacker pointed to this machine is not a loopback name.
      if (!isLoopback(request.hostname)) throw notFound('such page')
      const link = demoMailer.newestLink(checkEmail(request.query.email, 'email'))
      if (!link) throw notFound('mail to this address')
      const { pathname, hash } = new URL(link)
      reply.header('cache-control', 'no-store')
      return { path: pathname + hash }
    },
  })
}

/** The operator may offer single sign-on alone; links that were mailed before do not work then either. */
function requireMails({ offersMails }: Identity): void {
  if (!offersMails) throw new Problem('sign-in-method-off', 'Sign in by single sign-on.')
}

function checkEmail(text: string, path = '/email'): string {
  const email = normalEmail(text)
  if (!email) throw invalidInput(path, 'must be a mail address')
  return email
}

type Credentials = { token: string } | { email: string; code: string; request: string | undefined }

function credentialsOf({ token, email, code, request }: Static<typeof TokenBody>): Credentials {
  if (token !== undefined) {
    if (email !== undefined) throw invalidInput('/email', 'must be left out if a token is given')
    if (code !== undefined) throw invalidInput('/code', 'must be left out if a token is given')
    if (request !== undefined) throw invalidInput('/request', 'must be left out if a token is given')
    return { token }
  }
  if (email === undefined && code === undefined) throw invalidInput('/token', 'is required')
  if (email === undefined) throw invalidInput('/email', 'is required beside a code')
  if (code === undefined) throw invalidInput('/code', 'is required beside an address')
  return { email: checkEmail(email), code, request }
}
