import type { onSendHookHandler, RouteOptions } from 'fastify'
import type { App } from '../fastify-app.ts'

/**
 * Fastify states `Content-Length: 0` in a response to HEAD that has no body. RFC 9110, section 8.6, forbids that
 * for 204, and for 304 if the body of the 200 is not empty.
 */
export function addHeadLength(app: App): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    // After Fastify's own hook, which sets the header.
    if (route.method === 'HEAD') route.onSend = [route.onSend ?? [], removeLength].flat()
  })
}

const removeLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.statusCode === 204 || reply.statusCode === 304) reply.removeHeader('content-length')
  done(null, payload)
}
