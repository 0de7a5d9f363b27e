import type { Caller } from './caller.ts'

/**
 * The address that links begin with: the setting where there is one; else, behind a trusted proxy, what the
 * proxy says; else the request's own Host. Mails and sign-in links never use this, only `settled()`.
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

  /** Where the service itself listens, whatever stands before it. */
  bound(): string {
    return this.#bound
  }

  /** The setting or the bound address: nothing that a request can influence. */
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
