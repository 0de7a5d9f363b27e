import type { BlockList } from 'node:net'
import { isIP } from 'node:net'
import type { ProblemCode } from '../../base/problem.ts'
import { contains, networkList, normalNetwork } from './networks.ts'

/** The headers in which a browser says which page a request comes from. */
export interface PageHeaders {
  origin?: string | undefined
  referer?: string | undefined
}

/** The pages and addresses that may use a key, prepared once for each verified key. */
export class AllowedCallers {
  /** Null if any caller may use the key. */
  readonly #origins: OriginList | null
  readonly #networks: BlockList | null
  /** The last address that was compared: a server usually calls from one. */
  #last = { address: '', isAllowed: false }

  constructor(origins: readonly string[] | null, addresses: readonly string[] | null) {
    this.#origins = origins && new OriginList(origins)
    this.#networks = addresses && networkList(addresses.map((address) => normalNetwork(address)!))
  }

  /** A key for web pages may be part of a URL: who reads it there can read it in the page too. */
  get areWebPages(): boolean {
    return this.#origins !== null
  }

  /** Why the caller may not use the key, or null if it may. */
  refusal(headers: PageHeaders, address: string): Extract<ProblemCode, `${string}-not-allowed`> | null {
    if (this.#origins !== null && !this.#origins.has(pageOrigin(headers))) return 'origin-not-allowed'
    return this.#networks === null || this.#hasAddress(this.#networks, address) ? null : 'address-not-allowed'
  }

  #hasAddress(networks: BlockList, address: string): boolean {
    if (this.#last.address !== address) this.#last = { address, isAllowed: contains(networks, address) }
    return this.#last.isAllowed
  }
}

class OriginList {
  readonly #exact = new Set<string>()
  /** `https://*.example.org` as what stands before and after the asterisk. */
  readonly #wildcards: { start: string; end: string }[] = []

  constructor(origins: readonly string[]) {
    for (const origin of origins) {
      const [start = '', end] = origin.split('*')
      if (end === undefined) this.#exact.add(origin)
      else this.#wildcards.push({ start, end })
    }
  }

  has(origin: string | undefined): boolean {
    if (origin === undefined) return false
    if (this.#exact.has(origin)) return true
    return this.#wildcards.some(
      ({ start, end }) =>
        origin.startsWith(start) &&
        origin.endsWith(end) &&
        // Without the dots, slashes and signs that would make another host of it.
        SUBDOMAIN.test(origin.slice(start.length, -end.length)),
    )
  }
}

const SUBDOMAIN = /^[\w-]+(\.[\w-]+)*$/

/**
 * Browsers send `Origin` with requests of scripts to other origins, also with those of MapLibre; with images and
 * with requests to the page's own origin they send `Referer` only.
 */
export function pageOrigin({ origin, referer }: PageHeaders): string | undefined {
  if (origin !== undefined || referer === undefined) return origin
  const path = referer.indexOf('/', referer.indexOf('://') + 3)
  return path === -1 ? referer : referer.slice(0, path)
}

/**
 * As browsers send it: lower case, Punycode, without a default port and a path. A wildcard stands for one or more
 * labels before a domain of at least two. Null if it is not an origin of web pages.
 */
export function normalOrigin(text: string): string | null {
  const [, scheme, wildcard = '', host] = /^(https?:\/\/)(\*\.)?([^/?#@*\s\\]+)\/?$/i.exec(text.trim()) ?? []
  if (scheme === undefined || host === undefined || !URL.canParse(scheme + host)) return null
  const { origin, protocol, hostname, host: normalHost } = new URL(scheme + host)
  if (hostname === '' || hostname.endsWith('.')) return null
  if (wildcard === '') return origin
  const isDomain = hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[')
  return isDomain ? `${protocol}//*.${normalHost}` : null
}
