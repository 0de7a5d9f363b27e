import type { Caller } from './caller.ts'

/**
 * The URL that links begin with: the setting if there is one; otherwise, behind a trusted proxy, what the
 * proxy says; otherwise the request's Host header. Mails and sign-in links never use this, only `settled()`.
 */
export class BaseUrl {
  readonly #configured: string | null
  #bound = 'http://127.0.0.1'

  constructor(configured: string | null) {
    this.#configured = configured
  }

  listening(host: string, port: number): void {
    const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
    this.#bound = `http://${name}:${port}`
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
    const host = request.host
    const protocol = request.protocol === 'https' ? 'https' : 'http'
    return /^[\w.:[\]-]{1,255}$/.test(host) ? `${protocol}://${host}` : this.#bound
  }
}
