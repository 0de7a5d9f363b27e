import type { IncomingHttpHeaders } from 'node:http'

/** A request of the service to itself. */
export interface OwnRequest {
  method: 'GET'
  url: string
  headers: Record<string, string>
  remoteAddress: string
}

type Send = (
  request: OwnRequest,
) => Promise<{ statusCode: number; headers: Record<string, unknown>; body: string }>

/** A response of the service to itself that is not a success: a problem, as RFC 9457 describes it. */
export class RefusedCall extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, detail: string) {
    super(detail)
    this.status = status
    this.code = code
  }
}

/** The headers on which the rules about callers depend. */
const CALLER_HEADERS = ['host', 'x-api-key', 'authorization', 'origin', 'referer', 'sec-fetch-site'] as const

/**
 * The service's own HTTP interface, called within the process as the caller who sent a request. So every rule about
 * keys, limits and prices is where it is for everybody else, and a tool can do nothing that its caller cannot.
 */
export class OwnApi {
  readonly #send: Send
  readonly #caller: { headers: IncomingHttpHeaders; ip: string }

  constructor(send: Send, caller: { headers: IncomingHttpHeaders; ip: string }) {
    this.#send = send
    this.#caller = caller
  }

  async get<T>(path: string, query: Record<string, string | undefined> = {}): Promise<T> {
    const text = queryText(query)
    const { body } = await this.#get(text === '' ? path : `${path}?${text}`)
    return JSON.parse(body) as T
  }

  /** Reads the first byte of a file, for its headers and for what asking for it does, unless it costs more. */
  async firstByte(path: string, maxCredits: number): Promise<Record<string, string>> {
    const { headers } = await this.#get(path, {
      range: 'bytes=0-0',
      'credits-max': String(maxCredits),
    })
    return headers
  }

  async #get(
    url: string,
    more: Record<string, string> = {},
  ): Promise<{ body: string; headers: Record<string, string> }> {
    const headers: Record<string, string> = { accept: 'application/json', ...more }
    for (const name of CALLER_HEADERS) {
      const value = this.#caller.headers[name]
      if (typeof value === 'string') headers[name] = value
    }
    const response = await this.#send({ method: 'GET', url, headers, remoteAddress: this.#caller.ip })
    if (response.statusCode >= 400) throw refusalIn(response.statusCode, response.body)
    return { body: response.body, headers: response.headers as Record<string, string> }
  }
}

function queryText(query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return new URLSearchParams(given).toString()
}

function refusalIn(status: number, body: string): RefusedCall {
  try {
    const { code, detail, title } = JSON.parse(body) as { code?: string; detail?: string; title?: string }
    return new RefusedCall(status, code ?? 'failed', detail ?? title ?? `The status is ${status}.`)
  } catch {
    return new RefusedCall(status, 'failed', `The status is ${status}.`)
  }
}
