import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { Problem } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { type Authorization, returnAddress, TokenRefused } from './authorization.ts'
import type { RegisteredClients } from './client.ts'

export interface AssistantSignInDeps {
  authenticate: Authenticate
  authorization: Authorization
  registered: RegisteredClients
  baseUrl: BaseUrl
  about: About
}

const MAX_BODY = 16 * 1024
const MAX_DAYS = 365

const text = (maxLength: number, description: string) => Type.String({ maxLength, description })
const authorizationRequest = Type.Object(
  {
    client_id: text(8000, 'Who asks: the address of a client metadata document, or an id from registration.'),
    redirect_uri: text(500, 'Where the user returns to.'),
    response_type: text(20, '`code`.'),
    code_challenge: text(200, 'The SHA-256 of a secret of the client, as base64url (PKCE).'),
    code_challenge_method: text(20, '`S256`.'),
    state: Type.Optional(text(2000, 'Returned to the client as it is.')),
    resource: Type.Optional(text(500, 'The address of the service’s `/mcp`.')),
    scope: Type.Optional(text(500, 'Ignored: the user chooses.')),
  },
  { additionalProperties: false },
)
const consent = Type.Object(
  {
    request: authorizationRequest,
    tables: Type.Union(
      [
        Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }), { minItems: 1, maxItems: 100 }),
        Type.Null(),
      ],
      {
        description: 'The datasets that may be read; null for all that the user may read.',
      },
    ),
    credits: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'The credits that it may spend on downloads in a month.',
    }),
    days: Type.Integer({ minimum: 1, maximum: MAX_DAYS, description: 'How long the access lasts.' }),
  },
  { additionalProperties: false },
)
const redirect = Type.Object({ redirect: Type.String({ description: 'Where the browser goes on.' }) })

/** Sign-in for assistants, as the Model Context Protocol describes it: OAuth 2.1 with the service's own sign-in. */
export function assistantSignInRoutes(app: App, deps: AssistantSignInDeps): void {
  metadataRoutes(app, deps)
  consentRoutes(app, deps)
  tokenRoutes(app, deps)
}

/** Where clients learn how to sign in (RFC 9728 and RFC 8414). */
function metadataRoutes(app: App, { authenticate, baseUrl, about }: AssistantSignInDeps): void {
  const resource = async (request: FastifyRequest) => {
    const base = baseUrl.of(request)
    return {
      resource: `${base}/mcp`,
      authorization_servers: [base],
      bearer_methods_supported: ['header'],
      scopes_supported: ['read'],
      resource_name: about.title,
      resource_documentation: `${base}/docs/assistants`,
    }
  }
  const hidden = { schema: { hide: true } }
  for (const path of ['', '/mcp']) {
    app.get(`/.well-known/oauth-protected-resource${path}`, hidden, async (request, reply) => {
      await authenticate.anonymous(request, reply)
      return resource(request)
    })
  }
  app.get('/.well-known/oauth-authorization-server', hidden, async (request, reply) => {
    await authenticate.anonymous(request, reply)
    const base = baseUrl.of(request)
    return {
      issuer: base,
      authorization_endpoint: `${base}/connect`,
      token_endpoint: `${base}/oauth/token`,
      registration_endpoint: `${base}/oauth/register`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      scopes_supported: ['read'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      service_documentation: `${base}/docs/assistants`,
    }
  })
}

/** For the page /connect of the console. */
function consentRoutes(app: App, { authenticate, authorization, baseUrl }: AssistantSignInDeps): void {
  const placeOf = (request: FastifyRequest) => {
    const issuer = baseUrl.of(request)
    return { issuer, resource: `${issuer}/mcp` }
  }

  app.post('/v1/assistants/request', {
    // Before the body of somebody unknown is parsed.
    onRequest: (request, reply) => authenticate.anonymous(request, reply),
    bodyLimit: MAX_BODY,
    schema: {
      tags: [tags.keys],
      summary: 'Who asks for access as an assistant',
      description: 'For the page on which a user agrees. What a client says about itself is not verified.',
      problems: ['assistant-request-invalid'],
      body: authorizationRequest,
      response: {
        200: Type.Object({
          name: Type.String({ description: 'What the client calls itself.' }),
          host: Type.Union([Type.String(), Type.Null()], {
            description: 'The host that publishes its description.',
          }),
          returnsTo: Type.String({
            description: 'The host, or the kind of program, to which the user returns.',
          }),
          refusal: Type.String({ description: 'Where the browser goes on if the user refuses.' }),
        }),
      },
    },
    handler: async (request) => {
      const { name, host } = await authorization.check(request.body, placeOf(request).resource)
      const target = new URL(request.body.redirect_uri)
      const refusal = returnAddress(request.body, { error: 'access_denied', iss: placeOf(request).issuer })
      // A scheme of a program is a part of what the user has to recognise.
      const isWeb = target.protocol === 'https:' || target.protocol === 'http:'
      return { name, host, returnsTo: isWeb ? target.host : `${target.protocol}//${target.host}`, refusal }
    },
  })

  app.post('/v1/assistants/consent', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.keys],
      security: security.token,
      summary: 'Give an assistant access',
      description: 'The assistant then gets a personal key of the caller.',
      problems: ['assistant-request-invalid'],
      body: consent,
      response: { 200: redirect },
    },
    handler: async (request) => {
      const { request: asked, ...agreed } = request.body
      const user = authenticate.userOf(request)
      return { redirect: await authorization.consent(user, asked, agreed, placeOf(request)) }
    },
  })
}

/** For clients: they send forms, and get errors as OAuth has them. */
function tokenRoutes(
  app: App,
  { authenticate, authorization, registered, baseUrl }: AssistantSignInDeps,
): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_, body, done) =>
      done(null, body),
    )
    const hidden = { schema: { hide: true } }

    scope.post('/oauth/token', hidden, async (request, reply) => {
      await authenticate.anonymous(request, reply)
      reply.header('cache-control', 'no-store')
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
      const field = (name: string) => form.get(name) ?? undefined
      const origin = { actor: 'nobody', address: request.ip, requestId: request.id }
      try {
        const { secret, seconds } = await authorization.exchange(
          {
            grant_type: field('grant_type'),
            code: field('code'),
            redirect_uri: field('redirect_uri'),
            client_id: field('client_id'),
            code_verifier: field('code_verifier'),
            resource: field('resource'),
          },
          `${baseUrl.of(request)}/mcp`,
          origin,
        )
        return { access_token: secret, token_type: 'Bearer', expires_in: seconds, scope: 'read' }
      } catch (error) {
        // A client of the protocol reads refusals in this form only.
        if (error instanceof Problem && error.status < 500) {
          return reply.code(400).send({ error: 'invalid_request', error_description: error.detail })
        }
        if (!(error instanceof TokenRefused)) throw error
        return reply.code(400).send({ error: error.code, error_description: error.message })
      }
    })

    scope.post('/oauth/register', hidden, async (request, reply) => {
      await authenticate.anonymous(request, reply)
      const client = registered.register(objectIn(request.body))
      if (!client) {
        const description =
          'redirect_uris must have 1 to 10 addresses: https, http on this machine, or a scheme of a known editor or with a dot.'
        return reply.code(400).send({ error: 'invalid_redirect_uri', error_description: description })
      }
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({
          client_id: client.id,
          client_name: client.name,
          redirect_uris: client.redirectUris,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          response_types: ['code'],
        })
    })
  })
}

function objectIn(body: unknown): object {
  try {
    const value: unknown = JSON.parse(String(body))
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
