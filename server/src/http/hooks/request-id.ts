import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from '../caller.ts'

/** A request's id, from the proxy where the peer is a trusted one, else a new one. */
export function requestId({ headers, socket }: IncomingMessage, proxies: TrustedProxies): string {
  const given = headers['x-request-id']
  if (typeof given !== 'string') return newRequestId()
  // It goes into logs and headers.
  return /^[\w.:-]{1,128}$/.test(given) && proxies.has(socket.remoteAddress) ? given : newRequestId()
}

/** Random for each process, and counted from there: an id tells requests apart and is no secret. */
const PROCESS = randomUUID().slice(0, 24)
let count = 0

function newRequestId(): string {
  return PROCESS + (++count).toString(16).padStart(12, '0')
}
