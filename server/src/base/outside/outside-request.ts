import { type LookupAddress, lookup } from 'node:dns'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { request as httpRequest } from '../node-http.ts'
import { isInternalAddress } from './internal-address.ts'

/** The address that somebody else chose is not one that the service connects to. */
export class OutsideRefused extends Error {}

export interface OutsideOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string | Uint8Array
  signal?: AbortSignal
  /** Whether addresses inside the network are permitted (WAYLEAVE_ALLOW_INTERNAL_ADDRESSES). */
  allowInternal: boolean
  /** How many redirects of a GET or HEAD are followed. By default none: the redirect is the response. */
  maxRedirects?: number
  /** Within this time the response must begin, and then never pause for longer. */
  timeoutMs?: number
}

const TIMEOUT_MS = 30_000
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** What another host may get too. Any other header may be a secret of the one that it was meant for. */
const FOR_ANY_ORIGIN = new Set([
  'accept',
  'accept-encoding',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
])

/**
 * Sends a request to an address from outside: of a webhook, or of a source. The host is resolved once, every address
 * that it has is checked, and the connection goes to one of those, so that a name that changes its meaning between
 * the check and the connection gains nothing. Each redirect is checked in the same way. The caller reads or destroys
 * the response.
 */
export async function outsideRequest(
  address: string | URL,
  options: OutsideOptions,
): Promise<IncomingMessage> {
  let url = parse(address)
  let headers = options.headers ?? {}
  const method = options.method ?? 'GET'
  const mayFollow = method === 'GET' || method === 'HEAD'
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, method, headers, options)
    const location = response.headers.location
    const isRedirect = REDIRECTS.has(response.statusCode!) && location !== undefined
    if (!isRedirect || !mayFollow || options.maxRedirects === undefined) return response
    response.destroy()
    if (redirects >= options.maxRedirects) throw new OutsideRefused('The address redirects too often.')
    const next = parse(new URL(location, url))
    if (url.protocol === 'https:' && next.protocol !== 'https:') {
      throw new OutsideRefused('The address redirects from https to http.')
    }
    if (next.origin !== url.origin) headers = withoutSecrets(headers)
    url = next
  }
}

function parse(address: string | URL): URL {
  const url = URL.parse(String(address))
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new OutsideRefused('The address must begin with https:// or http://.')
  }
  return url
}

function withoutSecrets(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => FOR_ANY_ORIGIN.has(name.toLowerCase()))
  return Object.fromEntries(kept)
}

function send(
  url: URL,
  method: string,
  headers: OutgoingHttpHeaders,
  { allowInternal, body, signal, timeoutMs = TIMEOUT_MS }: OutsideOptions,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // An address in digits is not looked up.
  if (!allowInternal && isIP(host) !== 0 && isInternalAddress(host)) return Promise.reject(refused())
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const request = send(url, {
      method,
      headers,
      // Every connection is opened for the addresses that were checked for it.
      agent: false,
      timeout: timeoutMs,
      ...(signal && { signal }),
      ...(!allowInternal && { lookup: lookupOutside }),
    })
    const slow = () => new Error(`No answer within ${timeoutMs / 1000} seconds.`)
    // The socket's timeout starts anew with every byte; headers that trickle in must end too.
    const timer = setTimeout(() => request.destroy(slow()), timeoutMs)
    request.on('timeout', () => request.destroy(slow()))
    request.on('close', () => clearTimeout(timer))
    request.on('error', reject)
    request.on('response', (response) => {
      clearTimeout(timer)
      resolve(response)
    })
    request.end(body)
  })
}

const lookupOutside: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) callback(error, [])
    else if (addresses.some(({ address }) => isInternalAddress(address))) callback(refused(), [])
    else if (options.all) callback(null, addresses)
    else callback(null, addresses[0]!.address, addresses[0]!.family)
  })
}

function refused(): OutsideRefused {
  return new OutsideRefused('The address is inside the network of the service.')
}
