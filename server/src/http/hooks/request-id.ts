import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from '../caller.ts'

/** The request's id: from the header if the peer is a trusted proxy, otherwise a new one. */
export function requestId({ headers, socket }: IncomingMessage, proxies: TrustedProxies): string {
  const header = headers['x-request-id']
  if (typeof header !== 'string') return newRequestId()
  // Validated, because it is written to logs and headers.
  return /^[\w.:-]{1,128}$/.test(header) && proxies.has(socket.remoteAddress) ? header : newRequestId()
}

/** A random prefix per process, followed by a counter: an id identifies a request and need not be secret. */
const PROCESS = randomUUID().slice(0, 24)
let count = 0

export function newRequestId(): string {
  return PROCESS + (++count).toString(16).padStart(12, '0')
}
