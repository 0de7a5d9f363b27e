import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../base/problem.ts'
import { normalPath } from '../addresses.ts'
import type { App } from '../fastify-app.ts'
import type { RouteTable } from '../route-table.ts'

/**
 * Responds to requests that no route takes: 404 for an unknown path, 405 with `Allow` for a path that exists
 * with other methods, 204 with `Allow` for OPTIONS. It does so before the body is parsed: otherwise a body with
 * a wrong media type would be 415.
 */
export function addMissingRoutes(app: App, routes: RouteTable): void {
  const respond = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const isWholeServer = request.method === 'OPTIONS' && request.url === '*'
    const methods = isWholeServer ? routes.methods() : routes.methodsAt(normalPath(request.url))
    if (methods.length === 0) throw new Problem('not-found', 'There is nothing at this address.')
    if (request.method !== 'OPTIONS') throw wrongMethod(request.method, methods)
    return reply.code(204).header('allow', methods.join(', ')).send()
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    try {
      respond(request, reply)
    } catch (error) {
      done(error as Problem)
    }
  })
  app.setNotFoundHandler(respond)
}

/**
 * To be called after all routes are registered. A parameter can match the fixed path of another route: without
 * this, DELETE /v1/api-keys/my-keys would be routed to DELETE /v1/api-keys/:keyId and be 404 instead of 405.
 */
export function refuseShadowedMethods(app: App, routes: RouteTable): void {
  for (const { url, methods } of routes.shadowed()) {
    app.route({
      method: methods,
      url,
      exposeHeadRoute: false,
      config: { isRefusal: true },
      schema: { hide: true },
      onRequest: async (request) => {
        throw wrongMethod(request.method, routes.methodsAt(url))
      },
      handler: () => {},
    })
  }
}

export function wrongMethod(method: string, methods: readonly string[]): Problem {
  return new Problem('method-not-allowed', `${method} is not possible here.`, {
    headers: { allow: methods.join(', ') },
  })
}
