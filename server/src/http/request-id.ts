import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TrustedProxies } from './caller.ts'

/** A request's id, from the proxy where the peer is a trusted one, else a new one. */
export function requestId({ headers, socket }: IncomingMessage, proxies: TrustedProxies): string {
  const given = headers['x-request-id']
  // It goes into logs and headers.
  const isUsable = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)
  return isUsable && proxies.has(socket.remoteAddress) ? given : randomUUID()
}
