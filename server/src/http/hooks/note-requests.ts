import type { FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { App } from '../frame.ts'
import type { Metrics } from '../observability/metrics.ts'
import { logRequest } from '../observability/request-log.ts'

/** The number that other servers too log for a caller who left before the answer began. */
const LEFT = 499

/**
 * A line and a count for every request, at the end of its answer or of its connection: an upload or a download
 * that breaks off midway never finishes, and the frame's own `onResponse` does not tell of it.
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
