const WITHIN_MS = 30_000

export interface RequestOptions {
  token?: string
  key?: string
  body?: unknown
  /** Sent unchanged, instead of a JSON body. */
  file?: Buffer
  headers?: Record<string, string>
  withinMs?: number
}

export interface Response {
  /** 0 if the connection broke or no response came in time: whether the operation happened is unknown. */
  status: number
  headers: Headers
  bytes: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: bodies have every shape.
  body: any
}

/** Sends one HTTP request. It never throws: a broken connection is an outcome that the drills check. */
export async function request(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Response> {
  const headers: Record<string, string> = { 'accept-encoding': 'identity', ...options.headers }
  if (options.token) headers['authorization'] = `Bearer ${options.token}`
  if (options.key) headers['x-api-key'] = options.key
  let body: string | Uint8Array<ArrayBuffer> | undefined = options.file && new Uint8Array(options.file)
  if (options.body !== undefined) {
    headers['content-type'] = 'application/json'
    body = JSON.stringify(options.body)
  }
  try {
    const signal = AbortSignal.timeout(options.withinMs ?? WITHIN_MS)
    const response = await fetch(url + path, {
      method,
      headers,
      body,
      signal,
      redirect: 'manual',
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes, body: parse(response, bytes) }
  } catch {
    return { status: 0, headers: new Headers(), bytes: Buffer.alloc(0), body: undefined }
  }
}

/** Whether the server reported that the operation was done, that it was not done, or neither. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

export function outcomeOf({ status }: { status: number }): Outcome {
  if (status >= 200 && status < 300) return 'acknowledged'
  return status >= 400 && status < 500 ? 'refused' : 'unknown'
}

function parse(response: globalThis.Response, bytes: Buffer): unknown {
  if (!/json/.test(response.headers.get('content-type') ?? '') || bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
