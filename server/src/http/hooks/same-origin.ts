import { Problem } from '../../base/problem.ts'
import type { BaseUrl } from '../base-url.ts'
import type { App } from '../fastify-app.ts'

/**
 * CSRF protection for /v1/auth, which uses a cookie: a browser sends the page's origin, and only our own is
 * allowed. Programs send neither header. The check uses the route's pattern, because a URL can be written in
 * many ways. The protocol of the Host is not compared, because a proxy that terminates TLS may not forward
 * it.
 */
export function addSameOrigin(app: App, baseUrl: BaseUrl): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.routeOptions.url?.startsWith('/v1/auth/')) return done()
    const { origin, 'sec-fetch-site': site } = request.headers
    const crossSite = site !== undefined && site !== 'same-origin' && site !== 'none'
    done(crossSite || !isOwn(origin, request.host) ? new Problem('origin-refused') : undefined)
  })

  const isOwn = (origin: string | undefined, host: string): boolean =>
    origin === undefined ||
    origin === new URL(baseUrl.settled()).origin ||
    (URL.canParse(origin) && new URL(origin).host === host)
}
