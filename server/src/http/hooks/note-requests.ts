import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { App } from '../fastify-app.ts'
import type { Metrics } from '../observability/metrics.ts'
import { keyOf } from '../observability/request-keys.ts'
import { logRequest } from '../observability/request-log.ts'

/** 499, nginx's convention: the client disconnected before a response started. */
const LEFT = 499

/**
 * Logs and counts every request when its response finishes or its connection closes: an upload or download
 * that is aborted midway never finishes, and Fastify's `onResponse` does not report it.
 */
export function noteRequests(app: App, log: Logger, metrics: Metrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw } = reply
    const note = () => {
      raw.off('finish', note).off('close', note)
      const brokenOff = !raw.writableFinished
      const status = brokenOff && !raw.headersSent ? LEFT : reply.statusCode
      const milliseconds = reply.elapsedTime
      metrics.requests.observe(request.method, request.routeOptions.url ?? 'unmatched', status, milliseconds)
      logRequest(log, {
        id: request.id,
        method: request.method,
        path: pathOf(request),
        status,
        milliseconds,
        address: request.ip as string | undefined,
        keyId: keyOf(request.raw),
        brokenOff,
      })
    }
    raw.once('finish', note).once('close', note)
    done()
  })
}

export function pathOf(request: FastifyRequest): string {
  const mark = request.url.indexOf('?')
  return mark === -1 ? request.url : request.url.slice(0, mark)
}
