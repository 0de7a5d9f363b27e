import { setTimeout as delay } from 'node:timers/promises'
import type { McpHttpHandler } from '@modelcontextprotocol/server'
import { timeSlices } from '@wayleave/geodata/features'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticate } from '../accounts/access/authenticate.ts'
import type { Grant } from '../accounts/access/grant.ts'
import { readBalance } from '../accounts/credits/purchase-store.ts'
import type { UsageReports } from '../accounts/usage/usage-reports.ts'
import type { ControlDatabase } from '../base/database/open.ts'
import { isLoopback } from '../base/loopback.ts'
import { Problem } from '../base/problem.ts'
import type { Config } from '../base/settings/config.ts'
import { version } from '../base/version.ts'
import type { About } from '../http/about.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { App } from '../http/fastify-app.ts'
import { BODY_LIMIT, boundJson } from '../http/json-bodies.ts'
import type { McpContext } from './mcp-server.ts'
import { OwnApi } from './own-api.ts'
import type { UsageOfCaller } from './usage-of-caller.ts'

export interface McpDeps {
  authenticate: Authenticate
  usageReports: UsageReports
  database: Pick<ControlDatabase, 'db'>
  baseUrl: BaseUrl
  about: About
  config: Pick<Config, 'host' | 'baseUrl'>
}

/** No tool takes a list of more than 50 texts. The library looks at each value several times: 2,000 took 20 ms. */
const MAX_VALUES = 500
const MAX_DEPTH = 32
/** Longer than any query may take. */
const MAX_MS = 120_000
const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'

/**
 * The Model Context Protocol for assistants, over Streamable HTTP and without sessions: every request stands for
 * itself. Its tools call the service's own routes as the caller.
 */
export function mcpRoutes(app: App, deps: McpDeps): void {
  const { authenticate, baseUrl, about, config } = deps
  const isPrivate = config.baseUrl === null && isLoopback(config.host)
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const base = baseUrl.of(request)
    const challenge = `Bearer resource_metadata="${base}${RESOURCE_METADATA}"`
    const grant = await authenticate.optionalKey(request, reply).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 401) throw error
      throw new Problem(error.code, error.detail, { headers: { 'www-authenticate': challenge } })
    })
    // After the request was counted by the rate limits.
    requireOneCall(request)
    // Reading and checking a message takes milliseconds.
    if (timeSlices.isUsedUp) await timeSlices.next(grant?.owner ?? request.ip)
    let isChallenged = false
    const context: McpContext = {
      api: new OwnApi((own) => app.inject(own), request),
      base,
      about,
      version,
      usage: usageOf(request, grant, deps),
      onCredentialsMissing: () => {
        isChallenged = grant === null
      },
    }
    const { mcpHandler } = await import('./mcp-handler.ts')
    const handler = mcpHandler(context, { maxRequestBodySize: BODY_LIMIT, onerror: log(request) })
    const { response, body } = await answered(handler, webRequest(request, reply, base))
    for (const [name, value] of response.headers) reply.header(name, value)
    // Without credentials a client learns here where to get them; with some, that they are not enough.
    if (isChallenged) reply.header('www-authenticate', challenge)
    reply.header('cache-control', 'no-store').code(isChallenged ? 401 : response.status)
    return reply.send(body)
  }

  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_, body, done) =>
      done(null, body),
    )
    scope.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      schema: { hide: true },
      onRequest: async (request) => {
        if (isPrivate) requireThisMachine(request)
        readKeyAsBearer(request)
      },
      handler: serve,
    })
  })
}

/** Whether credentials are missing is known at the end of an answer; answers are small. */
async function answered(
  handler: McpHttpHandler,
  request: Request,
): Promise<{ response: Response; body: Buffer }> {
  const read = async () => {
    const response = await handler.fetch(request)
    return { response, body: Buffer.from(await response.arrayBuffer()) }
  }
  const late = new AbortController()
  try {
    return await Promise.race([
      read(),
      delay(MAX_MS, undefined, { signal: late.signal }).then(() => {
        throw new Problem('invalid-input', 'The request has no answer.')
      }),
    ])
  } finally {
    late.abort()
    await handler.close()
  }
}

/** One message a request: several would count as one in the rate limits. Nothing that a client could listen for changes. */
function requireOneCall({ headers, body }: FastifyRequest): void {
  if (headers['mcp-method'] === 'subscriptions/listen') {
    throw new Problem('invalid-input', 'There is nothing to subscribe to.')
  }
  if (!(body instanceof Buffer)) return
  if (startsArray(body)) throw new Problem('invalid-input', 'Send one message in a request, not an array.')
  // Before it is parsed.
  boundJson(body, { values: MAX_VALUES, depth: MAX_DEPTH }, 'message')
}

/** Whether JSON is an array. A byte order mark and any number of spaces may stand before it. */
function startsArray(json: Buffer): boolean {
  const hasMark = json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf
  const first = json.subarray(hasMark ? 3 : 0).find((byte) => !JSON_SPACES.has(byte))
  return first === 0x5b
}

const JSON_SPACES = new Set([0x20, 0x09, 0x0a, 0x0d])

const log =
  ({ log }: FastifyRequest) =>
  (error: Error) =>
    log.debug({ err: error }, 'A call of an assistant was refused.')

/**
 * A service that only this machine reaches is used by programs and pages of this machine only. A page whose name was
 * made to mean this machine (DNS rebinding) could use it otherwise.
 */
function requireThisMachine({ headers }: FastifyRequest): void {
  const hosts = [URL.parse(`http://${headers.host ?? ''}`), headers.origin && URL.parse(headers.origin)]
  for (const url of hosts) {
    if (url === undefined || url === '') continue
    if (url === null || !isLoopback(url.hostname)) throw new Problem('origin-refused')
  }
}

/** Clients of the protocol send a key as a Bearer token. A token of a session, which has dots, stays one. */
function readKeyAsBearer({ headers }: FastifyRequest): void {
  const token = /^Bearer +([\w-]+)$/i.exec(headers.authorization ?? '')?.[1]
  if (token === undefined || headers['x-api-key'] !== undefined) return
  headers['x-api-key'] = token
  delete headers.authorization
}

function webRequest(request: FastifyRequest, reply: FastifyReply, base: string): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value)
  }
  const left = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort()
  })
  const body = request.method === 'POST' ? ((request.body as Buffer | undefined) ?? Buffer.alloc(0)) : null
  const init = { method: request.method, headers, signal: left.signal }
  return new Request(`${base}/mcp`, body === null ? init : { ...init, body: new Uint8Array(body) })
}

function usageOf(
  request: FastifyRequest,
  grant: Grant | null,
  { authenticate, usageReports, database }: McpDeps,
): UsageOfCaller {
  const isKey = grant !== null && grant.scope !== 'anonymous' && grant.kind === 'key'
  return {
    report: async (dates) => {
      if (!isKey) return null
      const origin = authenticate.setOrigin(request, `key:${grant.keyId}`)
      return usageReports.ofKey({ reach: 'any', origin }, grant.keyId, dates)
    },
    balance: async () => (grant?.organizationId ? readBalance(database.db, grant.organizationId) : null),
  }
}
