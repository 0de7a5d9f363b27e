import type { MaybePromise } from '../../maybe-promise.ts'
import type { Exchange } from './exchange.ts'

/** How much room a body that is sent often leaves before its text, for the status line and the headers. */
export const HEAD_ROOM = 4096

/**
 * A whole response. Its headers are the exchange's. The body is `text`, then `bytes` from `start` to `end`, then
 * `pieces`. If there is room for text and head in `bytes` before `start`, head and body are one write.
 */
export interface DataResponse {
  status: number
  /** One character a byte (latin1). */
  text: string
  bytes: Buffer
  start: number
  end: number
  pieces: readonly Buffer[]
  /** Called once the operating system has taken all bytes; not called if the connection broke. */
  release(): void
}

/** A route that either transport can serve. It returns at once if all it needs is in memory. */
export interface DataRoute {
  /** The route as Fastify writes it. */
  pattern: string
  /** The table in an address of this route that has nothing to decode; null for any other address. */
  tableIn(url: string): string | null
  respond(exchange: Exchange, table: string): MaybePromise<DataResponse>
}

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

/** The body in one buffer; what it was copied from is released. */
export function wholeBody(response: DataResponse): Buffer {
  const { text, bytes, start, end, pieces } = response
  const body = bytes.subarray(start, end)
  if (text === '' && pieces.length === 0) return body
  const whole = Buffer.concat([Buffer.from(text, 'latin1'), body, ...pieces])
  response.release()
  return whole
}
