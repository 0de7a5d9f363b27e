import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Charge } from '../credits/cashier.ts'
import { matchesEtag } from '../http/headers.ts'
import { Problem } from '../problem.ts'
import type { ExportDescription, ExportFile } from './export-file.ts'
import { type ByteRange, parseRange, rangeStillHolds } from './range.ts'

export function chargeHeaders(reply: FastifyReply, { charged, remaining }: Charge): void {
  reply.header('credits-charged', String(charged))
  if (remaining !== null) reply.header('credits-remaining', String(remaining))
}

/** Sends the free responses 304, 416 and HEAD; returns null for all other requests. */
export function sendFree(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ExportFile,
): FastifyReply | null {
  if (matchesEtag(request.headers['if-none-match'], file.etag)) {
    describeFile(reply, file)
    return reply.code(304).send()
  }
  if (request.method === 'HEAD') {
    describeFile(reply, file)
    return withoutBytes(reply.header('content-length', String(file.bytes)))
  }
  if (rangeOf(request, file) !== 'unsatisfiable') return null
  throw new Problem('range-not-satisfiable', `The file has ${file.bytes} bytes.`, {
    headers: { 'content-range': `bytes */${file.bytes}` },
  })
}

/** Sends an empty stream; with no payload Fastify would set `Content-Length: 0`. */
export function withoutBytes(reply: FastifyReply): FastifyReply {
  return reply.send(Readable.from([]))
}

export function rangeOf(request: FastifyRequest, file: ExportFile): ByteRange | null | 'unsatisfiable' {
  if (request.method === 'HEAD') return null
  const holds = rangeStillHolds(headerText(request.headers['if-range']), file.etag, file.lastModified)
  return holds ? parseRange(request.headers.range, file.bytes) : null
}

export function describe(reply: FastifyReply, described: ExportDescription): void {
  reply
    .header('content-type', described.mediaType)
    .header('content-disposition', `attachment; filename="${described.filename}"`)
    .header('last-modified', described.lastModified.toUTCString())
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-cache')
  if (described.encoding !== 'identity') reply.header('content-encoding', described.encoding)
}

export function describeFile(reply: FastifyReply, file: ExportFile): void {
  describe(reply, file)
  reply.header('etag', file.etag)
  if (file.digest !== null) reply.header('repr-digest', `sha-256=:${file.digest}:`)
}

export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
