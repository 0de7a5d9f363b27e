import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Attempt } from '../../base/events/attempt-store.ts'
import { normalPath } from '../../http/addresses.ts'
import type { App } from '../../http/fastify-app.ts'
import { IDEMPOTENT_PATHS, idempotencyHeader } from '../../http/idempotency-header.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { IdempotentRequest, IdempotentRequests } from './idempotent-requests.ts'

export interface IdempotentRoutesDeps {
  authenticate: Authenticate
  idempotentRequests: IdempotentRequests
  log: Logger
}

/** Responses repeat these headers. */
const KEPT_HEADERS = ['content-type', 'location'] as const

/** Honours `Idempotency-Key` on every POST route of `IDEMPOTENT_PATHS` that is registered later. */
export function honourIdempotencyKeys(
  app: App,
  { authenticate, idempotentRequests: requests, log }: IdempotentRoutesDeps,
): void {
  const begun = new WeakMap<FastifyRequest, { attempt: Attempt; content: IdempotentRequest }>()

  const begin = async (request: FastifyRequest, reply: FastifyReply) => {
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string') return
    const origin = authenticate.originOf(request)
    const body = JSON.stringify(request.body ?? null)
    const content = { actor: origin.actor, key, content: `POST ${targetOf(request)}\n${body}` }
    const result = await requests.begin(content)
    if ('response' in result) {
      const { status, headers, body } = result.response
      return reply
        .code(status)
        .headers({ ...headers, 'idempotency-replayed': 'true' })
        .send(body)
    }
    origin.attempt = result.attempt
    begun.set(request, { attempt: result.attempt, content })
  }

  /** The path, and the organization that the user acts for: the same order for another one is another request. */
  const targetOf = (request: FastifyRequest) => {
    const path = normalPath(request.url)
    return path.startsWith('/v1/billing/') ? `${path} ${authenticate.userOf(request).organizationId}` : path
  }

  const finish = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const own = begun.get(request)
    if (!own) return payload
    begun.delete(request)
    try {
      if (reply.statusCode >= 500) await requests.fail(own.attempt)
      else await requests.finish(own.attempt, own.content, responseOf(reply, payload))
    } catch (error) {
      // The request was carried out: its own client gets the response, and a repetition is refused.
      log.warn({ err: error }, 'The response to a request with an Idempotency-Key could not be stored.')
    }
    return payload
  }

  app.addHook('onRoute', (route) => {
    if (route.method !== 'POST' || !IDEMPOTENT_PATHS.test(route.url)) return
    route.schema = { ...route.schema, headers: idempotencyHeader }
    route.preHandler = [...listOf(route.preHandler), begin]
    route.onSend = [...listOf(route.onSend), finish]
  })
}

function responseOf(reply: FastifyReply, payload: unknown) {
  const headers: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name)
    if (value !== undefined) headers[name] = String(value)
  }
  return {
    status: reply.statusCode,
    headers,
    body: payload === undefined || payload === null ? '' : String(payload),
  }
}

function listOf<Hook>(hooks: Hook | Hook[] | undefined): Hook[] {
  return hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks]
}
