import type { IncomingMessage } from 'node:http'

/** RFC 3986, section 3.2: a name or an address, and a port. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i

/** Clients send the same host again and again. */
let lastValid = ''

/**
 * What is wrong with the header Host, or null. RFC 9112, section 3.2: it must be there, once, and be valid. A proxy
 * and this server may otherwise take a request for one of another site.
 */
export function hostError({ headers, rawHeaders, httpVersion }: IncomingMessage): string | null {
  const { host } = headers
  if (host === undefined) return httpVersion === '1.1' ? 'The request has no header Host.' : null
  let count = 0
  // Node keeps the first of several.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  if (count > 1) return 'The request has more than one header Host.'
  if (host === lastValid) return null
  if (!HOST.test(host)) return 'The header Host is not a host name or address.'
  lastValid = host
  return null
}
