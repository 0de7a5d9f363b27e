import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problem.ts'
import type { BaseUrl } from './base-url.ts'

/**
 * An `onRequest` hook for routes that a cookie opens: a browser names the page's origin, and only our own
 * may ask. Programs send neither header. The protocol of the Host is not compared, for a proxy that ends TLS
 * may not tell of it.
 */
export function sameOrigin(baseUrl: BaseUrl) {
  return async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
    const { origin, 'sec-fetch-site': site } = request.headers
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new Problem('origin-refused')
    if (origin === undefined || origin === new URL(baseUrl.settled()).origin) return
    if (!URL.canParse(origin) || new URL(origin).host !== request.host) throw new Problem('origin-refused')
  }
}
