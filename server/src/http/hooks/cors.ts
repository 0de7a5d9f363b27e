import { normalPath } from '../addresses.ts'
import type { App } from '../fastify-app.ts'

export const CORS_EXPOSED =
  'ETag, Last-Modified, Link, OGC-NumberMatched, OGC-NumberReturned, OGC-Next-Cursor, Content-Crs, Content-Disposition, Content-Encoding, Content-Range, Repr-Digest, Accept-Ranges, Retry-After, RateLimit, RateLimit-Policy, Credits-Charged, Credits-Remaining, Wayleave-Credits, X-Request-Id, Location'

/**
 * Any web page may read data with a key it holds: keys are sent in a header, never in a cookie, so the origin
 * is irrelevant. Sign-in uses a cookie, and is therefore not allowed from other origins at all. Neither are
 * the metrics, which need no credentials from loopback, where a browser may run.
 */
export function addCors(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.origin === undefined || isOwnOnly(normalPath(request.url))) return done()
    reply.header('access-control-allow-origin', '*')
    reply.header('access-control-expose-headers', CORS_EXPOSED)
    const method = request.headers['access-control-request-method']
    if (request.method !== 'OPTIONS' || method === undefined) return done()
    reply
      .code(204)
      .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE')
      .header(
        'access-control-allow-headers',
        request.headers['access-control-request-headers'] ?? 'X-API-Key, Authorization, Content-Type',
      )
      .header('access-control-max-age', '86400')
      .header('vary', 'Access-Control-Request-Headers')
      .send()
  })
}

function isOwnOnly(path: string): boolean {
  return path.startsWith('/v1/auth') || path.startsWith('/metrics')
}
