import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** The client that sent a request, and the host and protocol it used. */
export interface Caller {
  address: string
  host: string
  protocol: string
}

/** The networks that the operator has blocked. */
export interface BlockedAddresses {
  readonly isEmpty: boolean
  has(address: string | undefined): boolean
}

/** The proxies whose X-Forwarded-… headers are trusted. */
export class TrustedProxies {
  readonly #addresses = new BlockList()
  readonly #isEmpty: boolean

  constructor(proxies: readonly string[]) {
    this.#isEmpty = proxies.length === 0
    for (const proxy of proxies) {
      const [address = '', bits] = proxy.split('/')
      const family = isIPv6(address) ? 'ipv6' : 'ipv4'
      if (bits === undefined) this.#addresses.addAddress(address, family)
      else this.#addresses.addSubnet(address, Number(bits), family)
    }
  }

  has(address: string | undefined): boolean {
    if (this.#isEmpty || address === undefined) return false
    const family = isIP(address)
    return family !== 0 && this.#addresses.check(address, family === 6 ? 'ipv6' : 'ipv4')
  }

  /** The same values that Fastify computes, for a request that has not passed through Fastify. */
  callerOf({ socket, headers }: IncomingMessage): Caller {
    const peer = socket.remoteAddress ?? ''
    const caller = { address: peer, host: headers.host ?? '', protocol: 'http' }
    if (!this.has(peer)) return caller
    const { 'x-forwarded-host': host, 'x-forwarded-proto': protocol, 'x-forwarded-for': addresses } = headers
    if (host) caller.host = lastOf(String(host))
    if (protocol) caller.protocol = lastOf(String(protocol))
    if (addresses) caller.address = this.#behind(String(addresses)) ?? peer
    return caller
  }

  /** Each proxy appends its peer's address: the client is the last address that is not a trusted proxy. */
  #behind(addresses: string): string | undefined {
    const all = addresses.split(',').map((address) => address.trim())
    const hops = all.filter((address) => address !== '')
    return hops.findLast((address) => !this.has(address)) ?? hops[0]
  }
}

function lastOf(values: string): string {
  return values.slice(values.lastIndexOf(',') + 1).trim()
}
