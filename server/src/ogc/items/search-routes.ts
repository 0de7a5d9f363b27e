import type { App } from '../../http/fastify-app.ts'
import { LONG_BODY_LIMIT } from '../../http/json-bodies.ts'
import { exchangeOf, sendResponse, setHeaders } from '../../http/sockets/fastify-transport.ts'
import { ROOT } from '../write/links.ts'
import { tableOf } from './admit.ts'
import type { ItemsDeps } from './items-page.ts'
import { itemsResponse } from './items-response.ts'

/**
 * Pages of features whose query is in the body, for filters that are too long for a URL. The size of the body
 * is limited by the frame.
 */
export function searchRoutes(app: App, deps: ItemsDeps): void {
  app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    // Parsed after the key was checked, and so that large integers are exact.
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body.toString()),
    )
    scope.post(
      `${ROOT}/collections/:table/search`,
      { bodyLimit: LONG_BODY_LIMIT },
      async (request, reply) => {
        const exchange = exchangeOf(request, reply)
        try {
          const body = typeof request.body === 'string' ? request.body : ''
          const response = await itemsResponse(exchange, tableOf(request), deps, body)
          return sendResponse(reply, exchange, response)
        } catch (error) {
          setHeaders(reply, exchange)
          throw error
        }
      },
    )
  })
}
