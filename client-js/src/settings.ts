import { checkOptions } from './check-arguments.ts'
import { WayleaveError } from './errors.ts'
import { sleep } from './retry.ts'
import type { ApiKey, Transport } from './transport.ts'

export interface WayleaveOptions {
  /**
   * The key, or a function that returns one for each request. In Node it defaults to the variable
   * `WAYLEAVE_API_KEY`. Metadata and samples need none.
   */
  apiKey?: ApiKey | undefined
  /**
   * The address of the service, such as https://data.example.org. It defaults to the variable `WAYLEAVE_BASE_URL`
   * in Node and to the page's own origin in a browser.
   */
  baseUrl?: string | undefined
  /** Milliseconds without a byte after which a call is retried or fails (60,000); 0 waits forever. */
  timeout?: number | undefined
  /** How often a failed call is retried (4). */
  maxRetries?: number | undefined
  fetch?: typeof fetch | undefined
  /** Returns a number between 0 and 1, which spreads the pauses between retries. */
  random?: (() => number) | undefined
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
}

const OPTIONS = ['apiKey', 'baseUrl', 'timeout', 'maxRetries', 'fetch', 'random', 'sleep']
const DEFAULT_TIMEOUT_MS = 60_000
const DEFAULT_MAX_RETRIES = 4
const MISSING_URL =
  'There is no base URL: pass the address of the service, as in ' +
  "new Wayleave({ baseUrl: 'https://data.example.org', apiKey: '…' }), or set WAYLEAVE_BASE_URL (Node only)."
const MISSING_KEY =
  'There is no API key either: pass apiKey or set WAYLEAVE_API_KEY (Node only). ' +
  'Without a key, only metadata, samples and open datasets can be read.'

type Environment = Record<string, string | undefined>

/** Node has `process`, a page has `location`. */
interface Globals {
  process?: { env?: Environment }
  location?: { origin?: string }
}

/** The options, else the environment, else an error that says what to pass. */
export function transportOf(
  options: WayleaveOptions,
  { process, location }: Globals = globalThis as Globals,
): Transport {
  if (typeof options === 'string') {
    throw new TypeError('new Wayleave() takes an object of options: new Wayleave({ apiKey, baseUrl }).')
  }
  checkOptions('new Wayleave()', options, OPTIONS)
  const environment = process?.env ?? {}
  const apiKey = keyOf(options.apiKey, environment)
  const address = options.baseUrl ?? (environment['WAYLEAVE_BASE_URL'] || location?.origin)
  return {
    apiKey,
    baseUrl: baseUrlOf(address, apiKey !== undefined),
    timeout: options.timeout ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    random: options.random ?? Math.random,
    // Called as a function: a browser's fetch fails as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    sleep: options.sleep ?? sleep,
  }
}

function keyOf(option: ApiKey | null | undefined, environment: Environment): ApiKey | undefined {
  if (typeof option === 'function') return option
  const key = option ?? (environment['WAYLEAVE_API_KEY'] || undefined)
  if (key === undefined) return undefined
  if (typeof key !== 'string') throw new TypeError('apiKey takes a text, or a function that returns one.')
  const trimmed = key.trim()
  if (!trimmed) throw new WayleaveError('The API key is empty: leave apiKey out to read what needs no key.')
  if (!/^[!-~]+$/.test(trimmed)) {
    throw new WayleaveError('The API key contains characters that no key has. Was something else copied too?')
  }
  return trimmed
}

function baseUrlOf(address: unknown, hasKey: boolean): string {
  if (address !== undefined && typeof address !== 'string') {
    throw new TypeError('baseUrl takes a text, such as https://data.example.org.')
  }
  const text = address?.trim()
  // The origin of a page that was opened from a file is the text "null".
  if (!text || text === 'null') {
    throw new WayleaveError(hasKey ? MISSING_URL : `${MISSING_URL} ${MISSING_KEY}`)
  }
  const url = parsedUrl(text)
  if (!url) throw new WayleaveError('The base URL must be an address that begins with http:// or https://.')
  if (url.username || url.password) {
    throw new WayleaveError('The base URL must not contain a user name or a password.')
  }
  const base = url.origin + url.pathname.replace(/\/+$/, '')
  const service = base.replace(/\/v1(\/ogc)?$/, '')
  if (service !== base) {
    throw new WayleaveError(`The base URL is the address of the service, without /v1: use ${service}.`)
  }
  return base
}

function parsedUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return /^https?:$/.test(url.protocol) ? url : undefined
  } catch {
    return undefined
  }
}
