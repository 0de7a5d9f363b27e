import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Charge } from '../../accounts/credits/cashier.ts'
import { Problem } from '../../base/problem.ts'
import { matchesEtag } from '../../http/headers.ts'
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

export function chargeHeaders({ charged, remaining }: Charge): Record<string, string> {
  return {
    'credits-charged': String(charged),
    ...(remaining === null ? {} : { 'credits-remaining': String(remaining) }),
  }
}

/** The headers that are known before the file is built. */
export function descriptionHeaders(
  { mediaType, lastModified, encoding }: ExportDescription,
  filename: string,
): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${filename}"`,
    'last-modified': lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
}

export function fileHeaders(file: ExportFile, filename: string): Record<string, string> {
  return {
    ...descriptionHeaders(file, filename),
    etag: file.etag,
    ...(file.digest === null ? {} : { 'repr-digest': `sha-256=:${file.digest}:` }),
  }
}

/** A response without a body, which costs nothing. */
export interface FreeResponse {
  status: 200 | 304
  headers: OutgoingHttpHeaders
}

/** The free response of a finished file: 304, or that of HEAD; null if it has to be sent. Throws if it is 416. */
export function freeResponse(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  file: ExportFile,
  filename: string,
): FreeResponse | null {
  const headers = fileHeaders(file, filename)
  if (matchesEtag(request.headers['if-none-match'], file.etag)) return { status: 304, headers }
  if (request.method === 'HEAD')
    return { status: 200, headers: { ...headers, 'content-length': String(file.bytes) } }
  if (rangeOf(request, file) !== 'unsatisfiable') return null
  throw new Problem('range-not-satisfiable', `The file has ${file.bytes} bytes.`, {
    headers: { 'content-range': `bytes */${file.bytes}` },
  })
}
