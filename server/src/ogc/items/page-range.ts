import { Problem } from '../../base/problem.ts'
import { parseRange } from '../../data/downloads/range.ts'
import { type DataResponse, responseOf, wholeBody } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'

/** Whether a request asks for a part of the page. GDAL reads a page through `/vsicurl/` that way. */
export function asksForRange(exchange: Exchange): boolean {
  return exchange.request.method === 'GET' && exchange.request.headers.range !== undefined
}

/**
 * The part of a finished page that a request asks for (RFC 9110, section 14). The page is made for each of its
 * parts, and each of them counts as a page.
 *
 * `If-Range` matches if it has the page's tag, although the tags of pages are weak and RFC 9110 (section 13.1.5)
 * requires a strong comparison, by which no part would ever be sent for `If-Range`. Pages with the same tag have the
 * same features; their `timeStamp` differs, in a fixed length, and `numberMatched` may appear once it was counted for
 * another request. `Content-Range` states the length, so that a client can detect the latter.
 */
export function rangeOfPage(exchange: Exchange, response: DataResponse, tag: string): DataResponse {
  if (response.status !== 200) return response
  const { range: header, 'if-range': condition } = exchange.request.headers
  if (condition !== undefined && condition !== tag) return response
  const whole = wholeBody(response)
  const range = parseRange(header, whole.length)
  if (range === null) return responseOf(200, whole)
  if (range === 'unsatisfiable') {
    throw new Problem('range-not-satisfiable', `The page has ${whole.length} bytes.`, {
      headers: { 'content-range': `bytes */${whole.length}` },
    })
  }
  exchange.setHeader('content-range', `bytes ${range.start}-${range.end - 1}/${whole.length}`)
  return responseOf(206, whole.subarray(range.start, range.end))
}
