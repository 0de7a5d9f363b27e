import { ConnectionError, errorClassOf, type Problem, TimeoutError, WayleaveError } from './errors.ts'
import type { Receipt } from './response-info.ts'
import { retryAfterSeconds, retrying } from './retry.ts'

/** Options of every call; without them the client's own values apply. */
export interface CallOptions {
  /** Aborts the call at once, also while it waits before a retry. */
  signal?: AbortSignal | undefined
  /** Milliseconds without a byte after which the call is retried or fails; 0 waits forever. */
  timeout?: number | undefined
  /** How often a failed call is retried. */
  maxRetries?: number | undefined
}

export const CALL_OPTIONS: string[] = ['signal', 'timeout', 'maxRetries']

/** A key, or a function that returns one. `refused` is the key that the service has refused, if any. */
export type ApiKey =
  | string
  | ((refused?: string) => string | undefined | null | Promise<string | undefined | null>)

export interface Transport {
  baseUrl: string
  /** Undefined for a client that reads only what needs no key. */
  apiKey: ApiKey | undefined
  fetch: typeof fetch
  timeout: number
  maxRetries: number
  random: () => number
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** What a request sends. */
export interface Sending {
  method: 'POST' | 'PUT' | 'DELETE'
  body?: Blob | string
  /** The media type of the body. */
  type?: string
  /** Whether sending it twice has the effect of sending it once. If not, it is only repeated after a refusal. */
  isRepeatable?: boolean
}

/** A successful response whose body is still to be read. */
export interface Opened {
  response: Response
  /** The next bytes of the body; undefined at its end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  close(): void
}

export function getJson<T>(
  transport: Transport,
  path: string,
  options: CallOptions,
  receipt: Receipt,
): Promise<T> {
  return requestJson(transport, path, options, receipt)
}

/** Resolves to undefined if the response has no body. */
export async function requestJson<T>(
  transport: Transport,
  path: string,
  options: CallOptions,
  receipt: Receipt,
  sending?: Sending,
): Promise<T> {
  const policy = { ...transport, isRepeatable: sending?.isRepeatable ?? sending === undefined }
  const headers: Record<string, string> = sending?.type ? { 'Content-Type': sending.type } : {}
  return retrying(policy, options, async () => {
    const opened = await open(transport, path, headers, options, sending)
    try {
      receipt.note(opened.response)
      const chunks: Uint8Array<ArrayBuffer>[] = []
      for (let chunk = await opened.read(); chunk; chunk = await opened.read()) chunks.push(chunk)
      return chunks.length === 0 ? undefined : JSON.parse(await new Blob(chunks).text())
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      const { baseUrl } = transport
      throw new WayleaveError(`The response is not JSON. Is ${baseUrl} the address of a Wayleave service?`, {
        cause: error,
      })
    } finally {
      opened.close()
    }
  })
}

export async function open(
  transport: Transport,
  path: string,
  headers: Record<string, string>,
  options: CallOptions,
  sending?: Sending,
): Promise<Opened> {
  const { apiKey } = transport
  if (typeof apiKey !== 'function') return send(transport, path, headers, apiKey ?? '', options, sending)
  const key = (await apiKey()) || ''
  try {
    return await send(transport, path, headers, key, options, sending)
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error
    const fresh = await apiKey(key)
    if (!fresh || fresh === key) throw error
    return send(transport, path, headers, fresh, options, sending)
  }
}

async function send(
  transport: Transport,
  path: string,
  headers: Record<string, string>,
  key: string,
  { signal, timeout = transport.timeout }: CallOptions,
  sending?: Sending,
): Promise<Opened> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop)
  const close = () => {
    signal?.removeEventListener('abort', stop)
    controller.abort()
  }
  /** Bounds the wait for the network, and distinguishes its failures from all others. */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    let late = false
    const expire = () => {
      late = true
      controller.abort()
    }
    const timer = timeout > 0 ? setTimeout(expire, timeout) : undefined
    try {
      return await work
    } catch (cause) {
      close()
      signal?.throwIfAborted()
      const { baseUrl } = transport
      if (late) throw new TimeoutError(`${baseUrl} did not respond within ${timeout} ms.`, { cause })
      throw new ConnectionError(`The connection to ${baseUrl} failed: ${reasonOf(cause)}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
  const ask = (url: string, sent: Record<string, string>) =>
    inTime(
      transport.fetch(url, {
        method: sending?.method ?? 'GET',
        ...(sending?.body !== undefined && { body: sending.body }),
        headers: sent,
        signal: controller.signal,
        // Following a redirect would send the key to another address.
        redirect: 'manual',
        // Chromium serves a range from a compressed copy in its cache, and truncates it to that copy's length.
        cache: headers['Range'] ? 'no-store' : 'default',
      }),
    )
  const first = await ask(transport.baseUrl + path, key ? { ...headers, 'X-API-Key': key } : headers)
  const address = signedAddress(first, path)
  const response = address === null ? first : withCharge(await ask(address, headers), first)
  if (!response.ok) {
    const text = await inTime(response.text())
    close()
    throw errorOf(transport, response, key ? text.replaceAll(key, '[redacted]') : text)
  }
  const reader = response.body?.getReader()
  return {
    response,
    read: async () => reader && (await inTime(reader.read())).value,
    close,
  }
}

/** The address of a file in an object store to which a download is redirected. It takes no key. */
function signedAddress({ status, headers }: Response, path: string): string | null {
  const location = headers.get('location')
  const isDownload = status === 307 && path.includes('/files/')
  return isDownload && location && /^https?:/.test(location) ? location : null
}

/** The store's response, with what the service has said about the charge. */
function withCharge(stored: Response, { headers: charged }: Response): Response {
  if (!stored.ok) return stored
  const headers = new Headers(stored.headers)
  for (const name of ['credits-charged', 'credits-remaining', 'x-request-id']) {
    const value = charged.get(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(stored.body, { status: stored.status, headers })
}

function errorOf({ apiKey, baseUrl }: Transport, response: Response, text: string): WayleaveError {
  const { status, headers } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const location = headers.get('location')
    return new WayleaveError(
      `${baseUrl} redirects${location ? ` to ${location}` : ''}: use that address as baseUrl.`,
    )
  }
  const question = status < 500 ? ' Is it the address of a Wayleave service?' : ''
  const problem = problemOf(text) ?? { detail: `${baseUrl} responded without an explanation.${question}` }
  // Open datasets need no key, so it is the service that says whether one is missing.
  if (problem.code === 'key-missing' && apiKey === undefined) {
    problem.detail =
      'There is no API key: pass apiKey to new Wayleave() or set WAYLEAVE_API_KEY (Node only). ' +
      `You can create one on the keys page of ${baseUrl}.`
  }
  const requestId = problem.requestId ?? headers.get('x-request-id') ?? undefined
  const retryAfter = retryAfterSeconds(headers.get('retry-after'), Date.now())
  const ErrorClass = errorClassOf(status)
  // Node prints this line above an uncaught error.
  return new ErrorClass(status, { ...problem, requestId }, retryAfter)
}

/** Undefined for the error page of a proxy or of another server. */
function problemOf(text: string): Problem | undefined {
  try {
    const problem = JSON.parse(text)
    return typeof problem === 'object' && problem !== null ? problem : undefined
  } catch {
    return undefined
  }
}

/** Node's message is only "fetch failed"; the reason is in the cause, or in the first of several causes. */
function reasonOf(error: unknown): string {
  const { message, cause, code, errors } = error as {
    message?: string
    cause?: unknown
    code?: string
    errors?: unknown[]
  }
  if (cause) return reasonOf(cause)
  if (errors?.length) return reasonOf(errors[0])
  return message || code || String(error)
}
