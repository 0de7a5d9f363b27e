import { Problem } from '../../problem.ts'
import type { BaseUrl } from '../base-url.ts'
import type { App } from '../frame.ts'

/**
 * Below /v1/auth a cookie opens doors: a browser names the page's origin, and only our own may ask. Programs
 * send neither header. The route's own path is looked at, for an address can be written in many ways. The
 * protocol of the Host is not compared, for a proxy that ends TLS may not tell of it.
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
