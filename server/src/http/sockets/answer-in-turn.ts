import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Whoever sends requests ahead of the answers sends a few: so many are nobody's who wants them answered. */
const MOST_WAITING = 100

/**
 * Takes the requests of one connection one after the other. Node begins each as soon as it has come and keeps
 * what cannot be sent yet: a hundred requests for large pages, sent at once by a reader that reads nothing,
 * held a gigabyte. Stands before the server's listeners from now on.
 */
export function answerInTurn(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[]
  const answer: RequestListener = (request, response) => {
    for (const listener of listeners) listener.call(server, request, response)
  }
  const waiting = new WeakMap<Socket, number>()
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    // An answer has its socket from the beginning, or else when the answers before it are sent.
    if (response.socket !== null) {
      answer(request, response)
      return
    }
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count > MOST_WAITING) socket.destroy()
    response.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1)
      process.nextTick(answer, request, response)
    })
  })
}
