import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** Who sent a request, and to which address of ours. */
export interface Caller {
  address: string
  host: string
  protocol: string
}

/** The proxies that are believed about whom they ask for. */
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

  /** What Fastify says of its own requests, for one that it has not seen. */
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

  /** Each proxy adds whom it was asked by at the end: the caller is the last who is none of ours. */
  #behind(addresses: string): string | undefined {
    const all = addresses.split(',').map((address) => address.trim())
    const given = all.filter((address) => address !== '')
    return given.findLast((address) => !this.has(address)) ?? given[0]
  }
}

function lastOf(values: string): string {
  return values.slice(values.lastIndexOf(',') + 1).trim()
}
