import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ExportFile } from './exports/export-file.ts'
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
