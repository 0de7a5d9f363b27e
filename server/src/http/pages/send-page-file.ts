import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../headers.ts'

/** After an upgrade a page runs with the styles and scripts of the version before for no longer than this. */
const SECONDS = 300

/** Sends a file that pages load by an address without a version. It is sent again only if it has changed. */
export function sendPageFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, bytes }: { mediaType: string; bytes: Buffer },
): FastifyReply {
  const etag = `"${hash('sha256', bytes).slice(0, 32)}"`
  reply.header('etag', etag).header('cache-control', `public, max-age=${SECONDS}`)
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.header('content-type', mediaType).send(bytes)
}
