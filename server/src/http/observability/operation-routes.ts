import { timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { About } from '../about.ts'
import type { App } from '../fastify-app.ts'
import { tags } from '../openapi.ts'
import { PAGE_HEADERS } from '../pages/html.ts'
import type { Metrics } from './metrics.ts'
import { statusPage } from './status-page.ts'

export interface FailedCheck {
  check: string
  /** A sentence for the response: says what to check, without addresses, paths or internal messages. */
  detail: string
}

/** Checks everything that serving needs; returns the failures, or an empty list. */
export type CheckReady = () => Promise<FailedCheck[]>

export interface Operation {
  metrics: Metrics
  metricsToken: string | null
  /** Always returns quickly. */
  checkReady: CheckReady
  /** Whether the server is about to stop, so that a load balancer should send requests elsewhere. */
  isDraining: () => boolean
  version: string
  clock: Clock
  /** The number of published datasets. */
  countDatasets: () => Promise<number>
  about: About
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/
/** Any one of these headers indicates a proxy: not all proxies send the same ones. */
const OF_PROXIES = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-real-ip',
  'forwarded',
  'via',
]

export function operationRoutes(
  app: App,
  { metrics, metricsToken, checkReady, isDraining, version, clock, countDatasets, about }: Operation,
): void {
  app.get('/health', {
    schema: {
      tags: [tags.operation],
      summary: 'Whether the process serves',
      response: { 200: Type.Object({ status: Type.Literal('ok') }) },
    },
    handler: () => ({ status: 'ok' as const }),
  })

  app.get('/ready', {
    schema: {
      tags: [tags.operation],
      summary: 'Whether everything that serving needs works: database, lease, disk, a snapshot',
      problems: ['not-ready'],
      response: { 200: Type.Object({ status: Type.Literal('ready') }) },
    },
    handler: async () => {
      if (isDraining()) throw new Problem('shutting-down', undefined, { headers: { 'retry-after': '2' } })
      const checks = await checkReady()
      if (checks.length > 0) {
        throw new Problem('not-ready', checks.map(({ detail }) => detail).join(' '), {
          headers: { 'retry-after': '2' },
          members: { checks },
        })
      }
      return { status: 'ready' as const }
    },
  })

  const startedAt = clock()
  app.get('/status', { schema: { hide: true } }, async (_request, reply) => {
    const failed = isDraining() ? [] : await checkReady()
    const state = isDraining() ? 'stopping' : failed.length > 0 ? 'not-ready' : 'ready'
    // The catalog is in the database, which may be what does not work.
    const datasets = state === 'ready' ? await countDatasets() : null
    reply
      .headers(PAGE_HEADERS)
      .header('cache-control', 'no-store')
      .code(state === 'ready' ? 200 : 503)
    return reply.send(statusPage({ state, failed, version, startedAt, now: clock(), datasets }, about))
  })

  // Checks the peer's own address, not a forwarded one: behind a proxy on this machine the token is needed.
  app.get(
    '/metrics',
    {
      schema: {
        tags: [tags.operation],
        summary: 'Figures for Prometheus',
        description: 'From loopback without a proxy, or with the token of the settings; otherwise 404.',
        problems: ['not-found'],
        documented: {
          responses: {
            200: { description: 'The figures.', content: { 'text/plain': { schema: { type: 'string' } } } },
          },
        },
      },
    },
    async (request, reply) => {
      const peer = request.socket.remoteAddress ?? ''
      const local = LOOPBACK.test(peer) && !OF_PROXIES.some((name) => name in request.headers)
      if (!local && !hasToken(request.headers.authorization, metricsToken)) throw notFound('such page')
      reply.header('content-type', metrics.contentType)
      return metrics.text()
    },
  )
}

function hasToken(header: string | undefined, token: string | null): boolean {
  if (token === null || header === undefined) return false
  const actual = Buffer.from(header)
  const expected = Buffer.from(`Bearer ${token}`)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
