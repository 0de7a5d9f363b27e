import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Charge } from '../../accounts/credits/cashier.ts'
import { Problem } from '../../base/problem.ts'
import { matchesEtag } from '../../http/headers.ts'
import {
  describeExport,
  type ExportDescription,
  type ExportFile,
  type ExportRequest,
  fileNameOf,
} from './exports/export-file.ts'
import { type ByteRange, parseRange, rangeStillHolds } from './range.ts'

type HttpRequest = Pick<IncomingMessage, 'method' | 'headers'>

export interface BodilessResponse {
  status: 200 | 304 | 307
  headers: OutgoingHttpHeaders
}

export interface FileResponse {
  status: 200 | 206
  headers: OutgoingHttpHeaders
  range: ByteRange
}

/** A file in the bucket, and the signed address of its bytes. */
export interface SignedFile {
  etag: string
  address: string
}

/** The headers that are known before the file is built. */
export function descriptionHeaders(
  request: ExportRequest,
  { mediaType, lastModified, encoding }: ExportDescription = describeExport(request),
): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${fileNameOf(request)}"`,
    'last-modified': lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': request.isShared ? 'public, max-age=60' : 'private, no-cache',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    ...varyOf(request),
  }
}

export function fileHeaders(request: ExportRequest, file: ExportFile): Record<string, string> {
  return {
    ...descriptionHeaders(request, file),
    etag: file.etag,
    ...(file.digest === null ? {} : { 'repr-digest': `sha-256=:${file.digest}:` }),
  }
}

/** The free response of a finished file: 304, or that of HEAD; null if it has to be sent. Throws if it is 416. */
export function freeResponse(
  http: HttpRequest,
  request: ExportRequest,
  file: ExportFile,
): BodilessResponse | null {
  const headers = fileHeaders(request, file)
  if (matchesEtag(http.headers['if-none-match'], file.etag)) return { status: 304, headers }
  if (http.method === 'HEAD')
    return { status: 200, headers: { ...headers, 'content-length': String(file.bytes) } }
  if (rangeOf(http, file) !== 'unsatisfiable') return null
  throw new Problem('range-not-satisfiable', `The file has ${file.bytes} bytes.`, {
    headers: { 'content-range': `bytes */${file.bytes}` },
  })
}

export function redirectResponse(
  request: ExportRequest,
  { etag, address }: SignedFile,
  charge: Charge,
): BodilessResponse {
  const headers = { location: address, etag, 'cache-control': 'private, no-store', ...varyOf(request) }
  return { status: 307, headers: { ...headers, ...chargeHeaders(charge) } }
}

/** nginx replaces this response by the file, or by the range of it that the client asks for. */
export function proxyResponse(
  request: ExportRequest,
  file: ExportFile,
  address: string,
  charge: Charge,
): BodilessResponse {
  // nginx adds `Accept-Ranges` itself.
  const { 'accept-ranges': _, ...headers } = fileHeaders(request, file)
  return { status: 200, headers: { ...chargeHeaders(charge), ...headers, 'x-accel-redirect': address } }
}

/** The file, or the range of it that the client asks for. */
export function fileResponse(
  http: HttpRequest,
  request: ExportRequest,
  file: ExportFile,
  charge: Charge,
): FileResponse {
  const requestedRange = rangeOf(http, file)
  const isWhole = requestedRange === null || requestedRange === 'unsatisfiable'
  const range = isWhole ? { start: 0, end: file.bytes } : requestedRange
  const bytes = range.end - range.start
  const isPart = bytes < file.bytes
  const headers = {
    ...chargeHeaders(charge),
    ...fileHeaders(request, file),
    ...(isPart ? { 'content-range': `bytes ${range.start}-${range.end - 1}/${file.bytes}` } : {}),
    'content-length': String(bytes),
  }
  return { status: isPart ? 206 : 200, headers, range }
}

/** Whether a script of a web page asks: it cannot follow the redirect without sending the key to the store. */
export function isScript({ origin, ...headers }: IncomingHttpHeaders): boolean {
  const isNavigation = headers['sec-fetch-mode'] === 'navigate'
  return origin !== undefined || (headers['sec-fetch-site'] !== undefined && !isNavigation)
}

export function headerText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

function rangeOf({ method, headers }: HttpRequest, file: ExportFile): ByteRange | null | 'unsatisfiable' {
  if (method === 'HEAD') return null
  const holds = rangeStillHolds(headerText(headers['if-range']), file.etag, file.lastModified)
  return holds ? parseRange(headers.range, file.bytes) : null
}

function varyOf({ format }: ExportRequest): Record<string, string> {
  return format.isCompressed ? {} : { vary: 'Accept-Encoding' }
}

function chargeHeaders({ charged, remaining }: Charge): Record<string, string> {
  return {
    'credits-charged': String(charged),
    ...(remaining === null ? {} : { 'credits-remaining': String(remaining) }),
  }
}
