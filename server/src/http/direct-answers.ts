import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { DatabaseError } from '../database/database-error.ts'
import { Problem } from '../problem.ts'
import type { Caller, TrustedProxies } from './caller.ts'
import { CORS_EXPOSED } from './cors.ts'
import type { Metrics } from './metrics.ts'
import type { Overload } from './overload.ts'
import { requestId } from './request-id.ts'
import { logRequest } from './request-log.ts'

/** How much room a direct route leaves before its text, for the head of the answer. */
export const HEAD_ROOM = 4096

/**
 * A whole answer with status 200. Its body is `text`, `bytes` from `start` to `end`, and `pieces`; before
 * `start` is room for the head and the text.
 */
export interface DirectBody {
  /** Written as latin1. */
  text: string
  bytes: Buffer
  start: number
  end: number
  pieces: Buffer[]
  /** Lines of the head, each with its end. */
  headers: string
  /** The path that is logged; never what may hold a secret. */
  path: string
  /** Called when the bytes are with the system, and not at all where the connection broke. */
  giveBack(): void
}

/** A route's own answer, made without a wait; null, and nothing done, where there is none. It may throw instead. */
export type DirectRoute = (request: IncomingMessage, caller: Caller) => DirectBody | null

export interface DirectAnswersParts {
  log: Logger
  metrics: Metrics
  overload: Overload
  proxies: TrustedProxies
}

/**
 * The few answers that are asked for thousands of times a second, past the frame: head and body in one buffer
 * and one write, which takes half the time of the ordinary way. A route answers directly only what it
 * can answer whole, at once and with 200; everything else, problems above all, is left to the ordinary way.
 */
export class DirectAnswers {
  readonly #parts: DirectAnswersParts
  readonly #pattern: string
  readonly #prefix: string
  readonly #route: DirectRoute

  /** `pattern` is the route's as the ordinary way has it. */
  constructor(parts: DirectAnswersParts, pattern: string, route: DirectRoute) {
    this.#parts = parts
    this.#pattern = pattern
    this.#prefix = pattern.slice(0, pattern.indexOf(':'))
    this.#route = route
  }

  /** Stands before the server's own listener from now on. */
  precede(server: Server): void {
    const ordinary = server.listeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[]
    server.removeAllListeners('request')
    const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1000)}\r\n`
    server.on('request', (request, response) => {
      if (this.#answer(request, response, keepAlive)) return
      for (const listener of ordinary) listener.call(server, request, response)
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse, keepAlive: string): boolean {
    const { log, overload, proxies } = this.#parts
    const { headers, url = '' } = request
    if (!url.startsWith(this.#prefix) || request.method !== 'GET') return false
    // An answer before this one that is still under way holds the socket.
    if (!response.shouldKeepAlive || response.socket === null || response.socket.destroyed) return false
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false
    if (overload.isOverloaded() || overload.isStopping()) return false
    const began = performance.now()
    const caller = proxies.callerOf(request)
    let body: DirectBody | null
    try {
      body = this.#route(request, caller)
    } catch (error) {
      // The ordinary way meets the same failure, and responds and logs.
      if (!(error instanceof Problem || error instanceof DatabaseError))
        log.error({ err: error }, 'A direct answer failed.')
      return false
    }
    if (body === null) return false
    const id = requestId(request, proxies)
    const cors = headers.origin === undefined ? '' : CORS
    const { text, bytes, start, end, pieces } = body
    let length = text.length + end - start
    for (const piece of pieces) length += piece.length
    const head = `${OPENING}x-request-id: ${id}\r\n${cors}${body.headers}content-length: ${length}\r\nDate: ${httpDate()}\r\n${keepAlive}\r\n${text}`
    const from = start - head.length
    bytes.write(head, from, 'latin1')
    write(response, bytes.subarray(from, end), pieces, (error) => {
      if (!error) body.giveBack()
      this.#finish(id, body.path, caller, performance.now() - began, Boolean(error))
    })
    return true
  }

  #finish(id: string, path: string, { address }: Caller, milliseconds: number, brokenOff: boolean): void {
    const { metrics, log } = this.#parts
    metrics.requests.observe('GET', this.#pattern, 200, milliseconds)
    logRequest(log, { id, method: 'GET', path, status: 200, milliseconds, address, brokenOff })
  }
}

const OPENING = 'HTTP/1.1 200 OK\r\nx-content-type-options: nosniff\r\n'
const CORS = `access-control-allow-origin: *\r\naccess-control-expose-headers: ${CORS_EXPOSED}\r\n`

/**
 * Writes head and body past the response, which is told that its head is sent and then only ends: Node's own
 * way takes the head apart and writes it by itself, which is half of what a small answer costs. Ending
 * still waits for the socket, and begins the next request of the connection.
 */
function write(
  response: ServerResponse,
  bytes: Buffer,
  pieces: Buffer[],
  written: (error?: Error | null) => void,
): void {
  const marked = response as ServerResponse & { _header: string; _headerSent: boolean }
  marked._header = OPENING
  marked._headerSent = true
  const socket = response.socket!
  if (pieces.length === 0) socket.write(bytes, written)
  else {
    // One call of the system for all of them.
    socket.cork()
    socket.write(bytes, written)
    for (const piece of pieces) socket.write(piece)
    socket.uncork()
  }
  response.end()
}

/** The text changes once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() }
  return date.text
}

let date = { second: Number.NaN, text: '' }
