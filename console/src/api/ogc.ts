import { problemFrom, unreachable } from './problem.ts'
import { readerKey } from './session-key.ts'

/** Query parameters; undefined ones and empty texts are left out. */
export type OgcQuery = Record<string, string | number | undefined>

/** The address of a resource of a collection, relative to the service. */
export function collectionUrl(table: string, path: string, query: OgcQuery = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return `/v1/ogc/collections/${encodeURIComponent(table)}${path}${text && `?${text}`}`
}

/** A list of names as a parameter: separated by commas, or a JSON array if a name contains one. */
export function nameList(names: readonly string[]): string {
  return names.some((name) => /,|^\[/.test(name)) ? JSON.stringify(names) : names.join(',')
}

/** Requests a resource with the key of a signed-in user, which is renewed once if it is refused. */
export async function fetchOgc(
  url: string,
  signal?: AbortSignal,
  method: 'GET' | 'HEAD' = 'GET',
  maxCredits?: number,
): Promise<Response> {
  const ask = (key: string) => send(url, headersOf(key, maxCredits), signal, method)
  const key = await readerKey()
  let response = await ask(key)
  if (response.status === 401 && key !== '') response = await ask(await readerKey(key))
  if (!response.ok) {
    throw problemFrom(response.status, await response.text(), response.headers.get('x-request-id'))
  }
  return response
}

export async function readOgc<T>(url: string, signal?: AbortSignal): Promise<T> {
  return parseExactly(await (await fetchOgc(url, signal)).text()) as T
}

/** Parses JSON; integers that a JavaScript number cannot hold become texts of their digits. */
function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, ((_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source && isUnsafeInteger(value, context.source)
      ? context.source
      : value) as (name: string, value: unknown) => unknown)
}

function isUnsafeInteger(value: number, source: string): boolean {
  return /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
}

function headersOf(key: string, maxCredits: number | undefined): Record<string, string> {
  return {
    ...(key !== '' && { 'X-API-Key': key }),
    ...(maxCredits !== undefined && { 'Credits-Max': String(maxCredits) }),
  }
}

function send(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  method: 'GET' | 'HEAD',
): Promise<Response> {
  return fetch(url, {
    method,
    headers,
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachable()
  })
}
