/** What the headers of a response say, beside its body. */
export interface ResponseInfo {
  /** The HTTP status. */
  status: number
  /** All headers that the page or program may see. */
  headers: Headers
  /** What to name when asking the service's operator about the call. */
  requestId: string | undefined
  credits: Credits
  rateLimit: RateLimit | undefined
}

export interface Credits {
  /** Credits that the call was charged; 0 for metadata, samples, features and repeated downloads. */
  charged: number
  /** The organization's balance after the call; undefined unless a download of an organization's key told it. */
  remaining: number | undefined
}

export interface RateLimit {
  /** What is limited, such as `key`. */
  name: string
  /** Requests allowed in a window; undefined if the service did not say. */
  limit: number | undefined
  /** The length of the window in seconds; undefined if the service did not say. */
  windowSeconds: number | undefined
  /** Requests that are allowed at once now. */
  remaining: number
  /** Seconds until all of them are available again. */
  resetSeconds: number
}

/** Collects what the responses to one call say. A call has several responses if it was resumed. */
export class Receipt {
  #last: Response | undefined
  #remaining: number | undefined
  /**
   * Every attempt for the same file repeats `Credits-Charged`, and a failed delivery is refunded before it is
   * charged again. So a file counts once, at its highest charge.
   */
  readonly #chargedByFile = new Map<string, number>()

  note(response: Response): void {
    const { headers } = response
    this.#last = response
    const file = headers.get('etag') ?? ''
    const charged = integer(headers.get('credits-charged')) ?? 0
    this.#chargedByFile.set(file, Math.max(charged, this.#chargedByFile.get(file) ?? 0))
    this.#remaining = integer(headers.get('credits-remaining')) ?? this.#remaining
  }

  info(): ResponseInfo {
    const { status, headers } = this.#last!
    const charged = [...this.#chargedByFile.values()].reduce((sum, credits) => sum + credits, 0)
    return {
      status,
      headers,
      requestId: headers.get('x-request-id') ?? undefined,
      credits: { charged, remaining: this.#remaining },
      rateLimit: rateLimitOf(headers),
    }
  }
}

/** Reads `RateLimit: "key";r=599;t=1` and `RateLimit-Policy: "key";q=6000;w=60` (structured fields, RFC 9651). */
function rateLimitOf(headers: Headers): RateLimit | undefined {
  const state = headers.get('ratelimit') ?? ''
  const policy = headers.get('ratelimit-policy') ?? ''
  const name = /^\s*"([^"]*)"/.exec(state)?.[1]
  const remaining = parameter(state, 'r')
  if (name === undefined || remaining === undefined) return undefined
  return {
    name,
    limit: parameter(policy, 'q'),
    windowSeconds: parameter(policy, 'w'),
    remaining,
    resetSeconds: parameter(state, 't') ?? 0,
  }
}

function parameter(field: string, name: string): number | undefined {
  return integer(new RegExp(`;\\s*${name}=(\\d+)`).exec(field)?.[1] ?? null)
}

function integer(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}
