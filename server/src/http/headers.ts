import type { IncomingHttpHeaders } from 'node:http'
import { BoundedCache } from '@wayleave/geodata/base'
import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

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

/**
 * Whether `If-Modified-Since`, which counts only without `If-None-Match`, has exactly the given date. A later
 * date does not count: after a rollback, the file is older than one that a client may have.
 */
export function isUnmodified(headers: IncomingHttpHeaders, lastModified: Date): boolean {
  const since = headers['if-modified-since']
  return headers['if-none-match'] === undefined && since !== undefined && isDateOf(since, lastModified)
}

/** Whether the date of a header is the given one; HTTP dates have no fractions of seconds. */
export function isDateOf(header: string, date: Date): boolean {
  return Date.parse(header) === Math.floor(date.getTime() / 1000) * 1000
}

function opaqueTag(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

type Coding = 'br' | 'gzip' | 'zstd'

/** No program sends longer headers; they would only fill the cache. */
const MAX_ACCEPT_ENCODING = 1000

/** The package's types lack the option `preferred`: the order of codings that the client accepts equally. */
interface EncodingNegotiator {
  encodings(available: string[], options?: { preferred: string[] }): string[]
}

/**
 * Content negotiation (RFC 9110, section 12.5.3): of the available codings, given in our order of preference,
 * returns the one that the client prefers, or 'identity' if the client prefers that. If no coding is acceptable,
 * it is identity too: never send a coding that the client did not accept.
 */
export function preferredEncoding<Available extends Coding>(
  header: string | undefined,
  codings: readonly Available[],
): 'identity' | Available {
  if (header === undefined || header.length > MAX_ACCEPT_ENCODING) return 'identity'
  let byHeader = negotiated.get(codings)
  if (byHeader === undefined) {
    byHeader = new BoundedCache(1000)
    negotiated.set(codings, byHeader)
  }
  let preferred = byHeader.get(header)
  if (preferred === undefined) {
    preferred = negotiateEncoding(header, codings)
    byHeader.set(header, preferred)
  }
  return preferred as 'identity' | Available
}

/** Results by header, for each list of codings: clients send the same few headers. */
const negotiated = new WeakMap<readonly string[], BoundedCache<string, string>>()

function negotiateEncoding<Available extends Coding>(
  header: string,
  codings: readonly Available[],
): 'identity' | Available {
  if (header.trim() === '') return 'identity'
  // RFC 9110, section 8.4.1.3: x-gzip is another name of gzip. Spaces around `=` are tolerated.
  const normalized = header.toLowerCase().replaceAll('x-gzip', 'gzip').replaceAll(/\s+/g, '')
  const available: (Available | 'identity')[] = [...codings, 'identity']
  const negotiator: EncodingNegotiator = new Negotiator({ headers: { 'accept-encoding': normalized } })
  const [preferred] = negotiator.encodings(available, { preferred: available })
  return (preferred as Available | undefined) ?? 'identity'
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

/** A `preValidation` hook for calls with an optional body. JSON's null is not absent: the schema rejects it. */
export async function absentBodyIsEmpty(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
