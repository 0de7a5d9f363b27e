import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Charge } from '../credits/cashier.ts'
import type { ExportDescription, ExportFile } from './exports/export-file.ts'
import { type ByteRange, parseRange, rangeStillHolds } from './range.ts'

export function rangeOf(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  file: ExportFile,
): ByteRange | null | 'unsatisfiable' {
  if (request.method === 'HEAD') return null
  const holds = rangeStillHolds(headerText(request.headers['if-range']), file.etag, file.lastModified)
  return holds ? parseRange(request.headers.range, file.bytes) : null
}

export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Whether a script of a web page asks: it cannot follow the redirect without sending the key to the store. */
export function isScript({ origin, ...headers }: IncomingHttpHeaders): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate'
  return origin !== undefined || (headers['sec-fetch-site'] !== undefined && !isNavigation)
}

export function chargeHeaders(reply: FastifyReply, { charged, remaining }: Charge): void {
  reply.header('credits-charged', String(charged))
  if (remaining !== null) reply.header('credits-remaining', String(remaining))
}

/** The headers that are known before the file is built. */
export function describe(reply: FastifyReply, described: ExportDescription, filename: string): void {
  reply
    .header('content-type', described.mediaType)
    .header('content-disposition', `attachment; filename="${filename}"`)
    .header('last-modified', described.lastModified.toUTCString())
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-cache')
  if (described.encoding !== 'identity') reply.header('content-encoding', described.encoding)
}

export function describeFile(reply: FastifyReply, file: ExportFile, filename: string): void {
  describe(reply, file, filename)
  reply.header('etag', file.etag)
  if (file.digest !== null) reply.header('repr-digest', `sha-256=:${file.digest}:`)
}
