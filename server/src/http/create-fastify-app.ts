import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import type { Logger } from 'pino'
import { DatabaseError } from '../base/database/database-error.ts'
import { OutageLog } from '../base/database/outage-log.ts'
import { Problem, type ProblemCode } from '../base/problem.ts'
import type { Config } from '../base/settings/config.ts'
import { StorageUnavailableError } from '../base/storage/object-store.ts'
import { aboutOf } from './about.ts'
import { addApiDefinition } from './api-definition.ts'
import { type BaseUrl, STRICT_TRANSPORT } from './base-url.ts'
import type { BlockedAddresses, TrustedProxies } from './caller.ts'
import { hostError } from './check-host.ts'
import { compileSerializer, compileValidator } from './compile-schemas.ts'
import type { App } from './fastify-app.ts'
import { addBodyDeadline, BODY_DEADLINE } from './hooks/body-deadline.ts'
import { addCors } from './hooks/cors.ts'
import { addHeadLength } from './hooks/head-length.ts'
import { addMissingRoutes } from './hooks/missing-routes.ts'
import { noteRequests, pathOf } from './hooks/note-requests.ts'
import { requestId } from './hooks/request-id.ts'
import { addSameOrigin } from './hooks/same-origin.ts'
import { BODY_LIMIT, LONG_BODY_LIMIT, readJsonBodies, SIGN_IN_BODY_LIMIT } from './json-bodies.ts'
import type { AccessLog } from './observability/access-log.ts'
import type { KeyRequestLog } from './observability/key-request-log.ts'
import type { Metrics } from './observability/metrics.ts'
import type { Overload } from './observability/overload.ts'
import { routedUrl, tooManyParameters } from './parameter-count.ts'
import { RouteTable } from './route-table.ts'
import { asProblem, type PageLinks, sendProblem } from './send-problem.ts'
import { RejectUnparsed } from './sockets/reject-unparsed.ts'
import { requestTurns, senderOf } from './sockets/request-turns.ts'

/** See docs/decisions/own-hooks.md. */
export interface FastifyAppDeps {
  config: Config
  log: Logger
  baseUrl: BaseUrl
  metrics: Metrics
  overload: Overload
  proxies: TrustedProxies
  addressBlocks?: BlockedAddresses
  accessLog?: AccessLog | null
  keyRequestLog?: KeyRequestLog | null
  /** Max time for a small body to arrive, in milliseconds. */
  bodyDeadline?: number
}

/** A filter is part of the URL, and may contain a polygon with a thousand vertices. */
const HEAD_LIMIT = 64 * 1024

/** Expected while the state lasts, or logged where they occur. */
const UNLOGGED = new Set<ProblemCode>([
  'overloaded',
  'shutting-down',
  'not-ready',
  'tiles-not-ready',
  'tiles-failed',
  'export-not-ready',
  'sign-on-unavailable',
  'data-damaged',
])

function hasCredentials({ headers, url }: FastifyRequest): boolean {
  return (
    headers['x-api-key'] !== undefined ||
    headers.authorization !== undefined ||
    headers.cookie !== undefined ||
    url.includes('api_key=')
  )
}

/** Creates the Fastify app with everything common to all routes. */
export async function createFastifyApp({
  config,
  log,
  baseUrl,
  metrics,
  overload,
  proxies,
  addressBlocks,
  accessLog = null,
  keyRequestLog = null,
  bodyDeadline = BODY_DEADLINE,
}: FastifyAppDeps): Promise<{ app: App; routes: RouteTable }> {
  const app: App = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Each request is logged once when it ends, so no child logger per request is needed.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT,
    // Node would respond to a request without Host with an empty 400. A hook below sends a problem instead.
    http: { maxHeaderSize: HEAD_LIMIT, requireHostHeader: false },
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    rewriteUrl: ({ url = '' }) => routedUrl(url),
    genReqId: (request) => requestId(request, proxies),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    forceCloseConnections: 'idle',
    requestTimeout: 0,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      const problem = asProblem(error)
      metrics.refusals.count(problem)
      sendProblem(problem, request, reply, links)
    },
    clientErrorHandler: (error, socket) => rejectUnparsed.error(error, socket),
  }).withTypeProvider<TypeBoxTypeProvider>()
  const about = aboutOf(config)
  const links = { baseUrl: () => baseUrl.settled(), contactUrl: config.contactUrl, about }

  const routes = new RouteTable()
  routes.watch(app as unknown as FastifyInstance)
  app.addHook('onRoute', (route) => {
    if (/^\/v1\/(auth|invitations)\//.test(route.url)) route.bodyLimit ??= SIGN_IN_BODY_LIMIT
  })
  const rejectUnparsed = new RejectUnparsed(routes, links, metrics.refusals)
  rejectUnparsed.watch(app.server)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  addApiDefinition(app, about)

  // Fastify rejects bodies that are not JSON with 415 unless a route registers its own parser.
  app.removeContentTypeParser('text/plain')
  readJsonBodies(app)

  // Must be registered before any hook that may reject a request.
  noteRequests(app, { log, metrics, proxies, accessLog, keyRequestLog })
  addFirstChecks(app, { baseUrl, overload, addressBlocks })
  addHeadLength(app)
  addCors(app)
  addSameOrigin(app, baseUrl)
  addBodyDeadline(app, LONG_BODY_LIMIT, bodyDeadline)
  addMissingRoutes(app, routes)
  // Parsing a body took iterations of their own, so what follows takes a turn again. See
  // docs/decisions/requests-in-turn.md.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) done()
    else requestTurns.take(() => senderOf(request.raw, proxies), done)
  })

  addErrorHandler(app, { log, metrics, overload, links })
  return { app, routes }
}

/** Sets the headers of all responses, and refuses what no route has to see. */
function addFirstChecks(
  app: App,
  { baseUrl, overload, addressBlocks }: Pick<FastifyAppDeps, 'baseUrl' | 'overload' | 'addressBlocks'>,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    // The default, which routes override: a shared cache must not keep a response that depends on the caller,
    // or serve one that may have changed.
    reply.header('cache-control', hasCredentials(request) ? 'no-store' : 'no-cache')
    if (baseUrl.isHttps(request)) reply.header('strict-transport-security', STRICT_TRANSPORT)
    if (overload.isDraining()) reply.header('connection', 'close')
    if (addressBlocks?.has(request.ip)) {
      reply.header('connection', 'close')
      done(new Problem('address-blocked'))
    } else if (
      overload.isOverloaded() &&
      !request.url.startsWith('/health') &&
      !request.url.startsWith('/metrics')
    ) {
      done(new Problem('overloaded', undefined, { headers: { 'retry-after': '2' }, limit: 'event-loop' }))
    } else if (overload.isStopping()) {
      done(new Problem('shutting-down', undefined, { headers: { 'retry-after': '2' } }))
    } else {
      const error = hostError(request.raw)
      const refusal =
        error === null ? tooManyParameters(request.originalUrl) : new Problem('malformed-request', error)
      done(refusal ?? undefined)
    }
  })
}

function addErrorHandler(
  app: App,
  {
    log,
    metrics,
    overload,
    links,
  }: Pick<FastifyAppDeps, 'log' | 'metrics' | 'overload'> & { links: PageLinks },
): void {
  const databaseOutages = new OutageLog(log)
  const storageOutages = new OutageLog(log)
  app.setErrorHandler((error, request, reply) => {
    const problem = asProblem(error)
    metrics.refusals.count(problem)
    if (problem.code === 'overloaded') overload.refusals++
    if (problem.status >= 500 && !UNLOGGED.has(problem.code)) {
      const fields = { requestId: request.id, path: pathOf(request), err: problem.cause ?? error }
      // When a client disconnects, its work is aborted by throwing an error: that needs no attention.
      if (reply.raw.destroyed) log.info(fields, 'The client disconnected before the response.')
      else if (problem.cause instanceof DatabaseError) databaseOutages.note(problem)
      else if (problem.cause instanceof StorageUnavailableError) storageOutages.note(problem)
      else log.error(fields, problem.title)
    }
    return sendProblem(problem, request, reply, links)
  })
}
