import type { IncomingMessage } from 'node:http'
import { SECOND } from '../../base/clock.ts'
import type { App } from '../fastify-app.ts'

/** How long a body that is held in memory may take, in ms. */
export const BODY_DEADLINE = 30 * SECOND

/**
 * Protects against slow bodies (slowloris): a body that arrives a byte at a time would hold memory
 * indefinitely. Small bodies have a deadline. A file upload, which is not held in memory, may take longer,
 * but is aborted after a pause of twice the deadline. Once a response has been sent, usually an error, the
 * rest of the upload is not needed and has the same deadline as a small body.
 */
export function addBodyDeadline(app: App, smallBody: number, milliseconds: number): void {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && routeOptions.bodyLimit <= smallBody) cutOffLateBody(raw, milliseconds)
    else if (hasBody) {
      reply.raw.once('finish', () => raw.complete || cutOffLateBody(raw, milliseconds))
      let bytesRead = raw.socket.bytesRead
      const look = setInterval(() => {
        // If the read buffer is full, the client is not the slow side: we apply backpressure.
        const waits = raw.readableLength >= raw.readableHighWaterMark
        if (!raw.complete && !waits && raw.socket.bytesRead === bytesRead) raw.destroy()
        bytesRead = raw.socket.bytesRead
      }, 2 * milliseconds).unref()
      raw.once('close', () => clearInterval(look))
    }
    done()
  })
}

/** Closes the connection of a request whose body has not arrived by then. */
export function cutOffLateBody(request: IncomingMessage, milliseconds = BODY_DEADLINE): void {
  if (request.destroyed) return
  const late = setTimeout(() => request.complete || request.destroy(), milliseconds).unref()
  request.once('close', () => clearTimeout(late))
}
