import { hostname, networkInterfaces } from 'node:os'
import { isLoopback } from '../base/loopback.ts'
import type { Caller } from './caller.ts'

/** HSTS for a year, for this host alone: the operator may serve other things on its subdomains. */
export const STRICT_TRANSPORT = 'max-age=31536000'

/**
 * The URL that links begin with: the setting if there is one. Without it, behind trusted proxies, the host that
 * they forward. Otherwise the host of the request, but only if it is a name or an address of this machine: a
 * response must not repeat any other Host header, or a cache could serve links to an attacker's site. Mails and
 * sign-in links use `settled()`, which no request influences.
 */
export class BaseUrl {
  readonly #configured: string | null
  readonly #hasProxies: boolean
  #bound = 'http://127.0.0.1'
  #port = 80
  #isOpen = false
  /** The last result of `of` that depends on its arguments alone: clients send the same host again and again. */
  #last = { host: '', protocol: '', base: '' }

  constructor(configured: string | null, hasProxies = false) {
    this.#configured = configured
    this.#hasProxies = hasProxies
  }

  listening(host: string, port: number): void {
    this.#isOpen = host === '0.0.0.0' || host === '::'
    const name = this.#isOpen ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
    this.#bound = `http://${name}:${port}`
    this.#port = port
  }

  /** The address of a server in another process, for commands beside it. */
  servedAt(url: string): void {
    this.#bound = url
  }

  /** The address that the service itself listens on, behind any proxies. */
  bound(): string {
    return this.#bound
  }

  /** The setting or the bound address: a request cannot influence it. */
  settled(): string {
    return this.#configured ?? this.#bound
  }

  of(request: Pick<Caller, 'host' | 'protocol'>): string {
    if (this.#configured) return this.#configured
    const { host } = request
    const protocol = request.protocol === 'https' ? 'https' : 'http'
    if (host === this.#last.host && protocol === this.#last.protocol) return this.#last.base
    const name = this.#hasProxies ? null : hostAndPort(host)
    // Loopback with any port: a tunnel to this machine may end on another one.
    const isFixed = this.#hasProxies
      ? /^[\w.:[\]-]{1,255}$/.test(host)
      : name !== null && isLoopback(name.host)
    if (isFixed) {
      const base = `${protocol}://${host}`
      this.#last = { host, protocol, base }
      return base
    }
    return name !== null && this.#isOfMachine(name) ? `${protocol}://${host}` : this.#bound
  }

  /** Whether clients reach the service by HTTPS, here or at a trusted proxy. */
  isHttps({ protocol }: Pick<Caller, 'protocol'>): boolean {
    return this.#configured ? this.#configured.startsWith('https:') : protocol === 'https'
  }

  /** Not cached, because the addresses of a machine change. */
  #isOfMachine({ host, port }: HostAndPort): boolean {
    return this.#isOpen && port === this.#port && namesOfMachine().has(host)
  }
}

interface HostAndPort {
  host: string
  port: number
}

/** The parts of a Host header; null if it is not valid. */
function hostAndPort(header: string): HostAndPort | null {
  const match = /^([\w.-]+|\[[\da-f:]+\])(?::(\d{1,5}))?$/i.exec(header)
  return match && { host: match[1]!.toLowerCase(), port: Number(match[2] ?? 80) }
}

function namesOfMachine(): Set<string> {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const names = addresses.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
  return new Set([hostname(), ...names].map((name) => name.toLowerCase()))
}
