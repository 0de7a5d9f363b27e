import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { SECOND } from '../../base/clock.ts'
import { STATUS_CODES } from '../../base/node-http.ts'
import { Problem, type ProblemCode } from '../../base/problem.ts'
import { normalPath } from '../addresses.ts'
import { wrongMethod } from '../hooks/missing-routes.ts'
import { newRequestId } from '../hooks/request-id.ts'
import type { RefusalCounts } from '../observability/refusal-counts.ts'
import type { RouteTable } from '../route-table.ts'
import { type Links, PROBLEM_TYPE, problemText } from '../send-problem.ts'
import { responseOn } from './node-internals.ts'

/** In milliseconds: how long a connection stays open after an error response, so that it can be read. */
const LINGER = SECOND

/** The errors of Node's HTTP parser that have a status of their own; all others are 400. */
const PROBLEM_CODES: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

interface ParserError extends Error {
  code?: string
  /** The bytes that the parser read last: a Buffer, although Fastify declares another type. */
  rawPacket?: unknown
}

/** Responds with a problem to requests that never reach a handler. */
export class RejectUnparsed {
  readonly #routes: RouteTable
  readonly #links: Links
  readonly #refusals: RefusalCounts

  constructor(routes: RouteTable, links: Links, refusals: RefusalCounts) {
    this.#routes = routes
    this.#links = links
    this.#refusals = refusals
  }

  watch(server: Server): void {
    // Without this listener Node closes the connection of a CONNECT request without a response.
    server.on('connect', ({ method = 'CONNECT', url = '' }: IncomingMessage, socket: Duplex) =>
      this.#send(socket, this.#problemOfMethod(method, url), pathOf(url)),
    )
    // Node would respond with an empty 417. RFC 9110, section 10.1.1, allows ignoring unknown expectations.
    server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  }

  /** For an error of Node's HTTP parser. */
  error(error: ParserError, socket: Duplex): void {
    // If a response is under way, this one would be written in the middle of it.
    const current = responseOn(socket)
    if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
      socket.destroy()
      return
    }
    const line = error.code === 'HPE_INVALID_METHOD' ? requestLine(error.rawPacket) : null
    if (line) this.#send(socket, this.#problemOfMethod(line.method, line.url), pathOf(line.url))
    else this.#send(socket, new Problem(PROBLEM_CODES[error.code ?? ''] ?? 'malformed-request'), null)
  }

  /** The parser knows only registered methods: any other word is 405 on an existing path, as RFC 9110 asks. */
  #problemOfMethod(method: string, url: string): Problem {
    const methods = this.#routes.methodsAt(normalPath(url))
    if (methods.length > 0) return wrongMethod(method, methods)
    return new Problem('not-found', 'There is nothing at this address.')
  }

  /**
   * Then destroys the connection: `end` alone would wait for the client to close its side, which an idle
   * client never does.
   */
  #send(socket: Duplex, problem: Problem, path: string | null): void {
    this.#refusals.count(problem)
    const destroying = setTimeout(() => socket.destroy(), LINGER).unref()
    socket.once('close', () => clearTimeout(destroying))
    socket.on('error', () => {})
    socket.end(rawProblem(problem, this.#links, path))
  }
}

/** A whole response, for connections without a `ServerResponse`. */
export function rawProblem(problem: Problem, links: Links, path: string | null): string {
  const requestId = newRequestId()
  const body = problemText(problem, { ...links, path, requestId })
  const headers = {
    ...problem.headers,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    Date: new Date().toUTCString(),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`
}

/** RFC 9110, section 5.6.2: a method is a token. */
function requestLine(packet: unknown): { method: string; url: string } | null {
  const start = Buffer.isBuffer(packet) ? packet.subarray(0, 8192).toString('latin1') : ''
  const match = /^(?:\r\n)?([!#$%&'*+.^_`|~\w-]{1,64}) (\/[\x21-\x7e]*) HTTP\/1\.[01]\r?\n/.exec(start)
  return match && { method: match[1]!, url: match[2]! }
}

function pathOf(url: string): string {
  return url.split('?', 1)[0]!
}
