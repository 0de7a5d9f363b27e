import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { STATUS_CODES } from '../../base/node-http.ts'
import { isTracing, type RequestTrace, traceRequest } from '../../base/tracing/tracing.ts'
import { type BaseUrl, STRICT_TRANSPORT } from '../base-url.ts'
import type { BlockedAddresses, TrustedProxies } from '../caller.ts'
import { hostError } from '../check-host.ts'
import { CORS_EXPOSED } from '../hooks/cors.ts'
import { traceParent } from '../hooks/note-requests.ts'
import { requestId } from '../hooks/request-id.ts'
import type { AccessLog } from '../observability/access-log.ts'
import type { KeyRequestLog } from '../observability/key-request-log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Overload } from '../observability/overload.ts'
import { logRequest } from '../observability/request-log.ts'
import { bodyLength, type DataResponse, type DataRoute, type RouteParameters } from './data-response.ts'
import { Exchange } from './exchange.ts'
import type { HandedOver } from './fastify-transport.ts'
import { canBypassHead, markHeadSent, writeNow } from './node-internals.ts'

/** See docs/decisions/two-transports.md. */
export interface SocketTransportDeps {
  log: Logger
  metrics: Metrics
  overload: Overload
  proxies: TrustedProxies
  baseUrl: BaseUrl
  addressBlocks: BlockedAddresses
  accessLog: AccessLog | null
  keyRequestLog: KeyRequestLog | null
}

/**
 * Sends responses that are ready synchronously as one write to the socket, head and body together: half the
 * time of Fastify for a page of ten features. If a route has to wait, or throws, the exchange is handed over
 * to Fastify together with the work begun, so that a request is handled once whichever transport sends the
 * response.
 */
export class SocketTransport {
  readonly #deps: SocketTransportDeps
  readonly #routes: readonly DataRoute[]
  readonly #handedOver: HandedOver

  /** The routes are tried in turn, so the most frequent one should be the first. */
  constructor(deps: SocketTransportDeps, routes: readonly DataRoute[], handedOver: HandedOver) {
    this.#deps = deps
    this.#routes = routes
    this.#handedOver = handedOver
  }

  /** Installs this transport before the server's other listeners, if this version of Node allows it. */
  precede(server: Server): void {
    if (!canBypassHead()) {
      this.#deps.log.warn('This version of Node is not known to the socket transport: it stays off.')
      return
    }
    const listeners = server.listeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[]
    server.removeAllListeners('request')
    const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1000)}\r\n`
    server.on('request', (request, response) => {
      if (this.#handle(request, response, keepAlive)) return
      for (const listener of listeners) listener.call(server, request, response)
    })
  }

  /** Returns false if the request is left to the other listeners. */
  #handle(request: IncomingMessage, response: ServerResponse, keepAlive: string): boolean {
    const { proxies, baseUrl, addressBlocks } = this.#deps
    if (!this.#isEligible(request, response)) return false
    // Fastify refuses it.
    if (!addressBlocks.isEmpty && addressBlocks.has(proxies.callerOf(request).address)) return false
    let route: DataRoute | undefined
    let parameters: RouteParameters | null = null
    for (route of this.#routes) {
      parameters = route.match(request.url!)
      if (parameters !== null) break
    }
    if (route === undefined || parameters === null) return false
    const { pattern } = route
    const began = performance.now()
    const caller = proxies.callerOf(request)
    const exchange = new Exchange(request, response, caller)
    const trace = isTracing() ? traceRequest(request, traceParent(request, proxies)) : null
    const result =
      trace === null
        ? respondOrReject(route, exchange, parameters)
        : trace.run(() => respondOrReject(route, exchange, parameters!))
    if (result instanceof Promise) {
      this.#handedOver.set(request, { exchange, response: result })
      return false
    }
    const id = requestId(request, proxies)
    const sent: SentResponse = {
      request,
      exchange,
      result,
      pattern,
      id,
      bytes: bodyLength(result),
      trace,
      began,
    }
    trace?.sending()
    const head = headOf(exchange, id, result, baseUrl.isHttps(caller) ? STRICT + keepAlive : keepAlive)
    if (writeWhole(response, result, head, () => (error) => this.#finish(sent, Boolean(error))))
      this.#finish(sent, false)
    return true
  }

  /** The memory of a page is used again once it is sent. */
  #finish(
    { request, exchange, result, pattern, id, bytes, trace, began }: SentResponse,
    brokenOff: boolean,
  ): void {
    const { log, metrics, accessLog, keyRequestLog } = this.#deps
    const { status } = result
    if (!brokenOff) result.release()
    const milliseconds = performance.now() - began
    const { keyId } = exchange
    const url = request.url!
    metrics.requests.observe('GET', pattern, status, milliseconds)
    trace?.end({ id, route: pattern, status, keyId })
    const { address } = exchange.caller
    const logged = { id, method: 'GET', path: pathIn(url), status, milliseconds, address, keyId, brokenOff }
    logRequest(log, logged)
    accessLog?.write({ ...logged, httpVersion: request.httpVersion, bytes }, new Date())
    if (keyId === undefined || keyRequestLog === null) return
    const weight = keyRequestLog.weightOf(keyId)
    if (weight === 0) return
    keyRequestLog.add({
      ...{ keyId, method: 'GET', route: pattern, url, status },
      ...{ milliseconds, bytes, credits: 0, weight },
    })
  }

  #isEligible(request: IncomingMessage, response: ServerResponse): boolean {
    const { overload } = this.#deps
    const { headers } = request
    // Fastify refuses a wrong Host.
    if (request.method !== 'GET' || headers.host === undefined || hostError(request) !== null) return false
    // `socket` is null while the previous response on the connection is being sent.
    if (!response.shouldKeepAlive || response.socket === null || response.socket.destroyed) return false
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false
    // Parts of pages are rare.
    if (headers.range !== undefined) return false
    // While draining, every response needs `Connection: close`, which Fastify sends.
    return !overload.isOverloaded() && !overload.isDraining()
  }
}

/** What the log and the metrics tell of a response, and the memory that it holds. */
interface SentResponse {
  request: IncomingMessage
  exchange: Exchange
  result: DataResponse
  pattern: string
  id: string
  bytes: number
  trace: RequestTrace | null
  began: number
}

/** Converts a thrown error to a rejection: Fastify's error handler sends it. */
function respondOrReject(
  route: DataRoute,
  exchange: Exchange,
  parameters: RouteParameters,
): MaybePromise<DataResponse> {
  try {
    return route.respond(exchange, parameters)
  } catch (error) {
    return Promise.reject(error)
  }
}

const STRICT = `strict-transport-security: ${STRICT_TRANSPORT}\r\n`
const CORS = `access-control-allow-origin: *\r\naccess-control-expose-headers: ${CORS_EXPOSED}\r\n`

function headOf(exchange: Exchange, id: string, response: DataResponse, keepAlive: string): string {
  const { status } = response
  const cors = exchange.request.headers.origin === undefined ? '' : CORS
  // 204 and 304 have no body and no Content-Length.
  const length = status === 304 || status === 204 ? '' : `content-length: ${bodyLength(response)}\r\n`
  return `${statusLine(status)}x-content-type-options: nosniff\r\nx-request-id: ${id}\r\n${cors}${exchange.headerLines}${length}Date: ${httpDate()}\r\n${keepAlive}\r\n`
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
}

/**
 * Writes head and body directly to the socket; the response is marked as sent and only has to be ended. Node
 * itself would serialize the head and write it separately, which is half the cost of a small response. Ending
 * still waits for the socket and starts the connection's next request. Returns whether the system has accepted
 * everything; otherwise `written` is called later.
 */
function writeWhole(
  response: ServerResponse,
  { status, text, bytes, start, end, pieces }: DataResponse,
  head: string,
  written: () => (error?: Error | null) => void,
): boolean {
  markHeadSent(response, statusLine(status))
  const socket = response.socket!
  const from = start - head.length - text.length
  let parts: readonly Buffer[]
  if (from >= 0) {
    bytes.write(text === '' ? head : head + text, from, 'latin1')
    const first = bytes.subarray(from, end)
    parts = pieces.length === 0 ? [first] : [first, ...pieces]
  } else parts = [Buffer.from(head + text, 'latin1'), bytes.subarray(start, end), ...pieces]
  const rest = after(parts, writeNow(socket, parts))
  if (rest.length > 0) writeRest(socket, rest, written())
  response.end()
  return rest.length === 0
}

/** What is left of the parts after so many bytes. */
function after(parts: readonly Buffer[], bytes: number): readonly Buffer[] {
  let accepted = bytes
  for (const [i, part] of parts.entries()) {
    if (accepted < part.length) return [part.subarray(accepted), ...parts.slice(i + 1)]
    accepted -= part.length
  }
  return NOTHING
}

const NOTHING: readonly Buffer[] = []

/**
 * Writes what the system did not accept. Small parts are copied together: a stalled client would otherwise keep a
 * block of the pack in memory for each.
 */
function writeRest(socket: Socket, rest: readonly Buffer[], written: (error?: Error | null) => void): void {
  const length = rest.reduce((sum, part) => sum + part.length, 0)
  const parts =
    rest.length > 1 && length < rest.length * MIN_KEPT_BYTES ? [Buffer.concat(rest, length)] : rest
  // When corked, all parts are one system call.
  socket.cork()
  for (const [i, part] of parts.entries()) socket.write(part, i === parts.length - 1 ? written : undefined)
  socket.uncork()
}

/** Parts of at least this average size, in bytes, are not copied. */
const MIN_KEPT_BYTES = 1 << 14

function pathIn(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}

/** Cached, because it changes once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() }
  return date.text
}

let date = { second: Number.NaN, text: '' }
