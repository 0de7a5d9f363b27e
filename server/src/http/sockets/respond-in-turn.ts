import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { endEmptyBody } from './node-internals.ts'
import { requestTurns, type Sender } from './request-turns.ts'

/** Real clients pipeline a handful of requests. Beyond this limit we close the connection as abusive. */
const MAX_WAITING = 100

/**
 * Handles the pipelined requests of a connection one after the other. Node starts each as soon as it arrives
 * and buffers responses that cannot be sent yet: a hundred pipelined requests for large pages, from a client
 * that reads nothing, held a gigabyte. The requests of all connections are begun in turns of their senders. Wraps
 * the server's present request listeners.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export function respondInTurn(server: Server, senderOf: (request: IncomingMessage) => Sender): void {
  const listeners = server.listeners('request') as RequestListener[]
  const respond: RequestListener = (request, response) => {
    requestTurns.take(
      () => senderOf(request),
      () => {
        // The client may have left while its request waited.
        if (request.socket.destroyed) return
        for (const listener of listeners) listener.call(server, request, response)
      },
    )
  }
  const waiting = new WeakMap<Socket, number>()
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    endEmptyBody(request)
    // A response has a socket at once, or only after the previous responses were sent.
    if (response.socket !== null) {
      respond(request, response)
      return
    }
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count > MAX_WAITING) socket.destroy()
    response.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1)
      process.nextTick(respond, request, response)
    })
  })
}
