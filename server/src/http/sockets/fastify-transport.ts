import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { App } from '../fastify-app.ts'
import { type DataResponse, type DataRoute, type RouteParameters, wholeBody } from './data-response.ts'
import { Exchange } from './exchange.ts'

/**
 * An exchange whose response is not ready yet, or failed.
 *
 * See docs/decisions/two-transports.md.
 */
export interface BegunExchange {
  exchange: Exchange
  response: MaybePromise<DataResponse>
}

/** Exchanges that the socket transport started and could not finish synchronously, by their request. */
export class HandedOver {
  readonly #exchanges = new WeakMap<IncomingMessage, BegunExchange>()

  set(request: IncomingMessage, begun: BegunExchange & { response: Promise<DataResponse> }): void {
    // A Fastify hook may respond before the route is reached; then the rejection would be unhandled.
    begun.response.catch(() => {})
    begun.exchange.handOver()
    this.#exchanges.set(request, begun)
  }

  /**
   * Removes the exchange. A value of a WeakMap that refers to its key, as this one does, survives every collection of
   * young objects until all of memory is collected: refused requests stopped all others for 30 ms at a time.
   */
  take(request: IncomingMessage): BegunExchange | undefined {
    const begun = this.#exchanges.get(request)
    this.#exchanges.delete(request)
    return begun
  }
}

/** Serves a data route through Fastify, for everything that the socket transport does not send itself. */
export function addDataRoute(app: App, route: DataRoute, handedOver: HandedOver): void {
  app.get(route.pattern, route.schema ? { schema: route.schema } : {}, async (request, reply) => {
    const begun = handedOver.take(request.raw)
    const exchange = begun?.exchange ?? exchangeOf(request, reply)
    try {
      const parameters = request.params as RouteParameters
      return sendResponse(reply, exchange, await (begun?.response ?? route.respond(exchange, parameters)))
    } catch (error) {
      setHeaders(reply, exchange)
      throw error
    }
  })
}

export function exchangeOf(request: FastifyRequest, reply: FastifyReply): Exchange {
  const { host, protocol, ip: address } = request
  const exchange = new Exchange(request.raw, reply.raw, { host, protocol, address })
  exchange.handOver()
  return exchange
}

export function sendResponse(reply: FastifyReply, exchange: Exchange, response: DataResponse): FastifyReply {
  setHeaders(reply, exchange)
  reply.code(response.status)
  return response.status === 304 || response.status === 204 ? reply.send() : reply.send(wholeBody(response))
}

export function setHeaders(reply: FastifyReply, exchange: Exchange): void {
  for (const [name, value] of exchange.headers()) reply.header(name, value)
}
