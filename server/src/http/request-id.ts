import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

/** Takes a request's id from the proxy where the peer is a trusted one, and makes one elsewhere. */
export function requestIds(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  return (request) => {
    const given = request.headers['x-request-id']
    // It goes into logs and headers.
    if (typeof given !== 'string' || !/^[\w.:-]{1,128}$/.test(given)) return randomUUID()
    const peer = request.socket.remoteAddress ?? ''
    return trusted.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4') ? given : randomUUID()
  }
}
