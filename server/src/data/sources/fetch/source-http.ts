import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip, createInflate } from 'node:zlib'
import { SourceError } from '@wayleave/geodata/compile'
import { SECOND } from '../../../base/clock.ts'
import { OutsideRefused, outsideRequest } from '../../../base/outside/outside-request.ts'
import type { FetchOptions } from './fetch-options.ts'

const MAX_ATTEMPTS = 5
const MAX_PAUSE = 30 * SECOND
const MAX_REDIRECTS = 5
/** A service may take long to begin, for example to count. */
const TIMEOUT = 120 * SECOND
/** A document is parsed as a whole, so it must not be large: for memory, and because the event loop stands still. */
const MAX_DOCUMENT_BYTES = 16 << 20
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504])
/** Codes of OpenSSL and Node about certificates: a later attempt gets the same. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/
/** Integers that a double may not hold. */
const LONG_INTEGER = /[\s:,[-]\d{16}/

/** A failure that may be gone soon. */
export class TransientSourceError extends SourceError {
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null = null, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** A document that is larger than allowed; a page of fewer features may not be. */
export class DocumentTooLargeError extends SourceError {}

/** Sends a GET request. Throws a SourceError unless the status is one of these. */
export async function openUrl(
  url: URL,
  options: FetchOptions,
  headers: OutgoingHttpHeaders = {},
  accepted: readonly number[] = [200],
): Promise<IncomingMessage> {
  const { credentials, allowInternal, signal } = options
  if (credentials && url.protocol !== 'https:' && !allowInternal)
    throw new SourceError('Credentials are only sent to addresses that begin with https://.')
  const response = await outsideRequest(url, {
    headers: { accept: '*/*', ...credentialHeaders(options), ...headers },
    allowInternal,
    signal,
    maxRedirects: MAX_REDIRECTS,
    timeoutMs: TIMEOUT,
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    if (error instanceof OutsideRefused) throw new SourceError(`${shown(url)}: ${error.message}`)
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    if (UNTRUSTED.test(reason))
      throw new SourceError(`${shown(url)} has a certificate that is not trusted: ${reason}.`)
    throw new TransientSourceError(`${shown(url)} cannot be reached: ${connectionReason(error)}.`, null, {
      cause: error,
    })
  })
  const status = response.statusCode!
  if (accepted.includes(status)) return response
  response.destroy()
  const lacksAccess = status === 401 || status === 403
  const message = `${shown(url)} responded with the status ${status}${lacksAccess ? ': it needs credentials, or other ones' : ''}.`
  throw RETRIED.has(status)
    ? new TransientSourceError(message, retryAfter(response))
    : new SourceError(message)
}

const REASONS: Record<string, string> = {
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ECONNREFUSED: 'nothing accepts connections there',
  ECONNRESET: 'the connection broke off',
  ETIMEDOUT: 'it did not answer in time',
}

/** Why there is no connection, in words. */
export function connectionReason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return REASONS[code] ?? (message.replace(/\.$/, '') || code)
}

/** Repeats what failed for a reason that may be gone soon, after growing pauses. */
export async function withRetries<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TransientSourceError) || count === MAX_ATTEMPTS) throw error
      const pause = error.retryAfterMs ?? SECOND * 2 ** (count - 1) * (0.5 + Math.random() / 2)
      await sleep(Math.min(pause, MAX_PAUSE), undefined, { signal })
    }
  }
}

/** A JSON document. Integers of any size keep their digits if it is written again. */
export async function getJson<T>(url: URL, options: FetchOptions, maxBytes?: number): Promise<T> {
  const text = await getText(
    url,
    options,
    'application/geo+json, application/json;q=0.9, */*;q=0.1',
    maxBytes,
  )
  let body: unknown
  try {
    body = parseExactly(text)
  } catch {
    throw new TransientSourceError(`${shown(url)} did not respond with JSON.`)
  }
  if (typeof body !== 'object' || body === null)
    throw new SourceError(`${shown(url)} did not respond with an object.`)
  return body as T
}

export function getText(
  url: URL,
  options: FetchOptions,
  accept: string,
  maxBytes = MAX_DOCUMENT_BYTES,
): Promise<string> {
  return withRetries(options.signal, async () => {
    const response = await openUrl(url, options, { accept, 'accept-encoding': 'gzip' })
    const chunks: Buffer[] = []
    let bytes = 0
    try {
      for await (const chunk of decompressed(response, options) as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > maxBytes)
          throw new DocumentTooLargeError(`${shown(url)} responded with more than ${maxBytes >> 20} MB.`)
      }
    } catch (error) {
      response.destroy()
      if (error instanceof SourceError) throw error
      throw new TransientSourceError(`${shown(url)} broke off.`, null, { cause: error })
    }
    return Buffer.concat(chunks).toString('utf8')
  })
}

/** The address without its parameters, which may contain secrets. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`
}

function credentialHeaders({ credentials }: FetchOptions): OutgoingHttpHeaders {
  if (!credentials) return {}
  const { username, password, headers } = credentials
  if (username === undefined) return { ...headers }
  const basic = Buffer.from(`${username}:${password ?? ''}`).toString('base64')
  return { authorization: `Basic ${basic}`, ...headers }
}

function decompressed(response: IncomingMessage, { received }: FetchOptions): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  const content =
    encoding === 'identity' ? new PassThrough() : encoding === 'deflate' ? createInflate() : createGunzip()
  response.on('error', (error) => content.destroy(error))
  response.on('data', (chunk: Buffer) => received(chunk.length))
  return response.pipe(content)
}

function retryAfter({ headers }: IncomingMessage): number | null {
  const text = headers['retry-after'] ?? ''
  if (/^\d{1,6}$/.test(text)) return Number(text) * SECOND
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown

function parseExactly(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
  const reviver: SourceReviver = (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
    return /^-?\d+$/.test(source) ? rawJSON(source) : value
  }
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown)
}
