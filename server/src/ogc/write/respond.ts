import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../../http/matches-etag.ts'
import { hash64 } from '../request/cursor.ts'
import type { Encoding } from '../request/encodings.ts'

/** Answers differ by these: the encoding by one, access by two, and CORS headers by the last. */
export const VARY = 'Accept, Authorization, X-API-Key, Origin'
/** A copy may be kept by its reader alone, and is asked about before it is used again. */
export const CACHE_CONTROL = 'private, no-cache'

/** Pages of ours run no script, load nothing foreign and stand in no frame. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** The tag of an answer with this content. */
function weakTag(text: string): string {
  const [high, low] = hash64(text)
  return `W/"${high.toString(36)}.${low.toString(36)}"`
}

/** A document that is made whole: text in one encoding or the other, told apart by its own tag. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  encoding: Encoding,
  text: string,
): FastifyReply {
  const tag = weakTag(encoding.mediaType + text)
  reply.header('vary', VARY).header('cache-control', CACHE_CONTROL).header('etag', tag)
  if (matchesEtag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  if (encoding.mediaType === 'text/html') {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY).header('referrer-policy', 'same-origin')
    reply.header('content-type', 'text/html; charset=utf-8')
  } else reply.header('content-type', encoding.mediaType)
  return reply.send(Buffer.from(text))
}
