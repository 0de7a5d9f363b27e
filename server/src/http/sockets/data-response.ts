import type { FastifySchema } from 'fastify'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Exchange } from './exchange.ts'

/** Space reserved before a body that is sent often, for the status line and the headers, in bytes. */
export const HEAD_ROOM = 4096

/**
 * A complete response. Its headers are those of the exchange. The body is `text`, then `bytes` from `start`
 * to `end`, then `pieces`. If there is room for head and text in `bytes` before `start`, head and body are
 * one write.
 */
export interface DataResponse {
  status: number
  /** One character per byte (latin1). */
  text: string
  bytes: Buffer
  start: number
  end: number
  pieces: readonly Buffer[]
  /** Called once all bytes were handed to the operating system; not called if the connection broke. */
  release(): void
}

/** A route that either transport can serve. It responds synchronously if all it needs is in memory. */
export interface DataRoute {
  /** The route in Fastify's syntax. */
  pattern: string
  /** The parameters in a URL of this route that needs no decoding; null for any other URL. */
  match(url: string): RouteParameters | null
  respond(exchange: Exchange, parameters: RouteParameters): MaybePromise<DataResponse>
  /** The schema of the route in Fastify, if it is part of the API definition. */
  schema?: FastifySchema
}

/** The parameters of a route by their names in its pattern; `*` is the rest of the path. */
export type RouteParameters = { readonly [name: string]: string }

/**
 * Matches URLs of a route whose pattern has no parameter or only the table, such as `/v1/dataset/:table`, which
 * needs no decoding. The query is ignored.
 */
export function matchPattern(pattern: string): DataRoute['match'] {
  const [before = '', after] = pattern.split(':table')
  return (url) => {
    if (!url.startsWith(before)) return null
    const mark = url.indexOf('?', before.length)
    const pathEnd = mark === -1 ? url.length : mark
    if (after === undefined) return pathEnd === before.length ? NO_PARAMETERS : null
    const end = pathEnd - after.length
    if (end <= before.length || (after !== '' && !url.startsWith(after, end))) return null
    const table = url.slice(before.length, end)
    return table.includes('/') || table.includes('%') ? null : { table }
  }
}

const NO_PARAMETERS: RouteParameters = {}

const NO_BYTES = Buffer.alloc(0)
const NO_PIECES: readonly Buffer[] = []

export function emptyResponse(status: number): DataResponse {
  return responseOf(status, NO_BYTES)
}

export function responseOf(
  status: number,
  bytes: Buffer,
  pieces: readonly Buffer[] = NO_PIECES,
): DataResponse {
  return { status, text: '', bytes, start: 0, end: bytes.length, pieces, release() {} }
}

export function bodyLength({ text, start, end, pieces }: DataResponse): number {
  let length = text.length + end - start
  for (const piece of pieces) length += piece.length
  return length
}

/** The body in one buffer; if it had to be copied, the original is released. */
export function wholeBody(response: DataResponse): Buffer {
  const { text, bytes, start, end, pieces } = response
  const body = bytes.subarray(start, end)
  if (text === '' && pieces.length === 0) return body
  const whole = Buffer.concat([Buffer.from(text, 'latin1'), body, ...pieces])
  response.release()
  return whole
}
