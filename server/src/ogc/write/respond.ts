import { BoundedCache } from '@wayleave/geodata/base'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Grant } from '../../accounts/access/grant.ts'
import { matchesEtag } from '../../http/headers.ts'
import { ISOLATION_HEADERS } from '../../http/pages/html.ts'
import type { Encoding } from '../request/encodings.ts'
import { hash64 } from '../request/hash64.ts'

/**
 * Responses vary by these headers: the encoding by the first, compression by the second, access by the next
 * two, and CORS headers by the last.
 */
export const VARY = 'Accept, Accept-Encoding, Authorization, X-API-Key, Origin'
/** Only the client may store a copy, and must revalidate it before each use. */
export const CACHE_CONTROL = 'private, no-cache'
/** For open data without a key, which a CDN may store. Short, because a dataset may be replaced or closed. */
export const OPEN_CACHE_CONTROL = 'public, max-age=60'

export function cacheControlFor(grant: Pick<Grant, 'scope'> | null): string {
  return grant?.scope === 'anonymous' ? OPEN_CACHE_CONTROL : CACHE_CONTROL
}

/** The HTML pages run only our own scripts, load nothing from other origins and cannot be framed. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** A weak ETag for a response with this content. */
export function weakTag(text: string): string {
  const [high, low] = hash64(text)
  return `W/"${high.toString(36)}.${low.toString(36)}"`
}

/** Sends a complete document as text in one of its encodings, with an ETag of the encoding and the text. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  encoding: Encoding,
  text: string,
  grant: Grant | null = null,
): FastifyReply {
  return sendTagged(request, reply, encoding, { tag: weakTag(encoding.mediaType + text), body: text }, grant)
}

/** The same with a tag that is known. */
export function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  encoding: Encoding,
  { tag, body }: { tag: string; body: string | Buffer },
  grant: Grant | null,
): FastifyReply {
  reply.header('vary', VARY).header('cache-control', cacheControlFor(grant)).header('etag', tag)
  if (matchesEtag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  if (encoding.mediaType === 'text/html') {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY).header('referrer-policy', 'same-origin')
    reply.headers(ISOLATION_HEADERS)
    reply.header('content-type', 'text/html; charset=utf-8')
  } else reply.header('content-type', encoding.mediaType)
  return reply.send(typeof body === 'string' ? Buffer.from(body) : body)
}

export interface DocumentHeaderLines {
  /** Those of all responses. */
  commonLines: string
  /** Those of a response with a body. */
  bodyLines: string
}

/** By media type and tag: documents and the features of a version are requested again and again. */
const headerLines = new BoundedCache<string, DocumentHeaderLines>(1000)

/** The same headers as lines, for a response that either transport sends. */
export function documentHeaderLines(
  { mediaType }: Encoding,
  tag: string,
  grant: Grant | null,
): DocumentHeaderLines {
  const cacheControl = cacheControlFor(grant)
  const key = `${mediaType} ${tag} ${cacheControl}`
  let lines = headerLines.get(key)
  if (lines === undefined) {
    lines = makeHeaderLines(mediaType, tag, cacheControl)
    headerLines.set(key, lines)
  }
  return lines
}

function makeHeaderLines(mediaType: string, tag: string, cacheControl: string): DocumentHeaderLines {
  const lines = (headers: Record<string, string>) =>
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
  const htmlHeaders = {
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'referrer-policy': 'same-origin',
    ...ISOLATION_HEADERS,
    'content-type': 'text/html; charset=utf-8',
  }
  return {
    commonLines: lines({ vary: VARY, 'cache-control': cacheControl, etag: tag }),
    bodyLines: lines(mediaType === 'text/html' ? htmlHeaders : { 'content-type': mediaType }),
  }
}
