import { ConnectionError, errorClassOf, type Problem, TimeoutError, WayleaveError } from './errors.ts'
import { retryAfterSeconds, retrying } from './retry.ts'

/** What every call takes beside its own arguments; without them, the client's own hold. */
export interface CallOptions {
  /** Ends the call at once, also while it waits to try again. */
  signal?: AbortSignal | undefined
  /** Milliseconds without a byte after which the call is tried again or given up; 0 waits for ever. */
  timeout?: number | undefined
  /** How often a failed call is tried again. */
  maxRetries?: number | undefined
}

/** A key, or a function that gives one: with `refused`, one that the service no longer takes. */
export type ApiKey =
  | string
  | ((refused?: string) => string | undefined | null | Promise<string | undefined | null>)

export interface Transport {
  baseUrl: string
  apiKey: ApiKey
  fetch: typeof fetch
  timeout: number
  maxRetries: number
  random: () => number
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** A successful answer whose body is still to be read. */
export interface Opened {
  response: Response
  /** Some more bytes of the body; undefined at its end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  close(): void
}

export async function getJson<T>(transport: Transport, path: string, options: CallOptions): Promise<T> {
  return retrying(transport, options, async () => {
    const opened = await open(transport, path, {}, options)
    try {
      const chunks: Uint8Array<ArrayBuffer>[] = []
      for (let chunk = await opened.read(); chunk; chunk = await opened.read()) chunks.push(chunk)
      return JSON.parse(await new Blob(chunks).text())
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new WayleaveError('The answer is not JSON: baseUrl seems to lead to something else.', {
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
): Promise<Opened> {
  const { apiKey } = transport
  if (typeof apiKey === 'string') return send(transport, path, headers, apiKey, options)
  const key = (await apiKey()) || ''
  try {
    return await send(transport, path, headers, key, options)
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error
    const fresh = await apiKey(key)
    if (!fresh || fresh === key) throw error
    return send(transport, path, headers, fresh, options)
  }
}

async function send(
  transport: Transport,
  path: string,
  headers: Record<string, string>,
  key: string,
  { signal, timeout = transport.timeout }: CallOptions,
): Promise<Opened> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop)
  const close = () => {
    signal?.removeEventListener('abort', stop)
    controller.abort()
  }
  /** Bounds the wait for the network, and tells its failures from all others. */
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
      if (late) throw new TimeoutError(`The service did not answer within ${timeout} ms.`, { cause })
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new ConnectionError(`The connection to the service failed: ${reason}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
  const response = await inTime(
    transport.fetch(transport.baseUrl + path, {
      headers: key ? { ...headers, 'X-API-Key': key } : headers,
      signal: controller.signal,
      // Followed, it would hand the key to whoever stands there.
      redirect: 'manual',
      // Chromium answers a range from a packed copy in its cache, and cuts it to that copy's length.
      cache: headers['Range'] ? 'no-store' : 'default',
    }),
  )
  if (!response.ok) {
    const text = await inTime(response.text())
    close()
    throw errorOf(response, key ? text.replaceAll(key, '[redacted]') : text)
  }
  const reader = response.body?.getReader()
  return {
    response,
    read: async () => reader && (await inTime(reader.read())).value,
    close,
  }
}

function errorOf(response: Response, text: string): WayleaveError {
  const { status, headers } = response
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const to = headers.get('location')
    return new WayleaveError(`The service redirects${to ? ` to ${to}` : ''}: use that as baseUrl.`)
  }
  let problem: Problem = {}
  try {
    problem = JSON.parse(text) ?? {}
  } catch {
    // A proxy's error page: its status says enough.
  }
  return new (errorClassOf(status))(
    status,
    { requestId: headers.get('x-request-id') ?? undefined, ...problem } as Problem,
    retryAfterSeconds(headers.get('retry-after'), Date.now()),
  )
}
