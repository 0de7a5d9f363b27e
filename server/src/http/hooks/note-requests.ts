import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { isTracing, traceRequest } from '../../base/tracing/tracing.ts'
import type { TrustedProxies } from '../caller.ts'
import type { App } from '../fastify-app.ts'
import { type AccessLog, statedLength } from '../observability/access-log.ts'
import type { KeyRequestLog } from '../observability/key-request-log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { keyOf } from '../observability/request-keys.ts'
import { logRequest } from '../observability/request-log.ts'

/** 499, nginx's convention: the client disconnected before a response started. */
const LEFT = 499

export interface RequestNotes {
  log: Logger
  metrics: Metrics
  proxies: TrustedProxies
  accessLog: AccessLog | null
  keyRequestLog: KeyRequestLog | null
}

/**
 * Logs and counts every request when its response finishes or its connection closes: an upload or download
 * that is aborted midway never finishes, and Fastify's `onResponse` does not report it.
 */
export function noteRequests(
  app: App,
  { log, metrics, proxies, accessLog, keyRequestLog }: RequestNotes,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply
    const trace = traceRequest(request.raw, traceParent(request.raw, proxies))
    const note = () => {
      raw.off('finish', note).off('close', note)
      const brokenOff = !raw.writableFinished
      const status = brokenOff && !raw.headersSent ? LEFT : reply.statusCode
      const milliseconds = reply.elapsedTime
      const route = request.routeOptions.url ?? 'unmatched'
      metrics.requests.observe(request.method, route, status, milliseconds)
      trace?.end({ id: request.id, route, status, keyId: keyOf(request.raw) })
      const logged = {
        id: request.id,
        method: request.method,
        path: pathOf(request),
        status,
        milliseconds,
        address: request.ip as string | undefined,
        keyId: keyOf(request.raw),
        brokenOff,
      }
      logRequest(log, logged)
      const { keyId } = logged
      const weight = keyId === undefined || keyRequestLog === null ? 0 : keyRequestLog.weightOf(keyId)
      if (weight > 0) {
        const bytes = statedLength(request.method, reply)
        const credits = creditsCharged(reply)
        const { method, url } = request
        keyRequestLog!.add({
          keyId: keyId!,
          method,
          route,
          url,
          status,
          milliseconds,
          bytes,
          credits,
          weight,
        })
      }
      if (accessLog) {
        const { httpVersion } = request.raw
        accessLog.write({ ...logged, httpVersion, bytes: statedLength(request.method, reply) }, new Date())
      }
    }
    raw.once('finish', note).once('close', note)
    if (trace === null) done()
    else trace.run(done)
  })
  if (isTracing()) {
    app.addHook('onSend', (request, _reply, payload, done) => {
      traceRequest(request.raw)?.sending()
      done(null, payload)
    })
  }
}

/** The size that the response states. A download is sent past Fastify, with its own headers. */
function creditsCharged(reply: FastifyReply): number {
  return Number(reply.getHeader('credits-charged') ?? reply.raw.getHeader('credits-charged') ?? 0)
}

/** Like request ids, the trace that a request belongs to is taken only from trusted proxies. */
export function traceParent(
  { headers, socket }: IncomingMessage,
  proxies: TrustedProxies,
): string | undefined {
  const { traceparent } = headers
  return typeof traceparent === 'string' && proxies.has(socket.remoteAddress) ? traceparent : undefined
}

export function pathOf(request: FastifyRequest): string {
  const mark = request.url.indexOf('?')
  return mark === -1 ? request.url : request.url.slice(0, mark)
}
