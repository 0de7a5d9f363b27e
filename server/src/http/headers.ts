import type { FastifyRequest } from 'fastify'

/** The raw value of a cookie, without decoding. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Builds a cookie with SameSite=Strict and HttpOnly, sent only for requests below the path. */
export function strictCookie(
  name: string,
  value: string,
  { path, maxAge, secure }: { path: string; maxAge: number; secure: boolean },
): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}

/** Whether `If-None-Match`, a list of tags or `*`, matches this tag. Uses weak comparison. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = opaqueTag(etag)
  return header.split(',').some((tag) => opaqueTag(tag.trim()) === opaque)
}

function opaqueTag(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

type Coding = 'gzip' | 'zstd'

/**
 * Content negotiation (RFC 9110, section 12.5.3): of the available codings, given in our order of preference,
 * returns the one that the client prefers, or 'identity' if the client prefers that.
 */
export function preferredEncoding<Given extends Coding>(
  header: string | undefined,
  codings: readonly Given[],
): 'identity' | Given {
  if (header === undefined || header.trim() === '') return 'identity'
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightIn(parameters))
  }
  const weightOf = (name: string) =>
    weights.get(name) ?? (name === 'identity' ? 0.0001 : (weights.get('*') ?? 0))
  // If no coding is acceptable, fall back to identity: never send a coding that the client did not accept.
  const welcome = codings.filter((name) => weightOf(name) > 0)
  return [...welcome, 'identity' as const].reduce((best, name) =>
    weightOf(name) > weightOf(best) ? name : best,
  )
}

function weightIn(parameters: string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter))
  return q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1)) || 0
}

/**
 * An `onRequest` hook for calls without a body: many clients send `Content-Type: application/json` with every
 * POST, and an empty body is not valid JSON.
 */
export async function withoutBody(request: FastifyRequest): Promise<void> {
  const { headers } = request.raw
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    delete headers['content-type']
  }
}
