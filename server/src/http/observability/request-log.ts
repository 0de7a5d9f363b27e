import pino, { type Logger } from 'pino'
import { redactSecrets } from '../../base/redact.ts'

/** Routes that are polled, and parts of pages, are only logged at info level if they fail. */
const ROUTINE = new Set(['/health', '/ready', '/metrics', '/theme.js', '/icon.svg', '/favicon.ico'])
/** Files of the console and the documentation: a page loads a dozen of them. */
const ASSETS = /^\/(?:docs\/)?assets\//
/** Longer than any name in our paths: a segment of this length may be a secret that was put into a URL. */
const SECRET_LENGTH = 26
const LONG_SEGMENT = /[\w-]{26}/
/** Printable ASCII without quotes and backslashes: text that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/
const INFO = 30
const DEBUG = 20

/** Parts of a logger that its types do not show: where it writes, and what every line has, such as `,"thread":2`. */
const { streamSym, chindingsSym } = pino.symbols as unknown as Record<'streamSym' | 'chindingsSym', symbol>

/** See docs/decisions/plain-request-log.md. */
export interface LoggedRequest {
  id: string
  method: string
  /** Without the query string. */
  path: string
  status: number
  milliseconds: number
  /** Undefined if the client has disconnected. */
  address: string | undefined
  /** The id of the API key; undefined without one. */
  keyId?: string | undefined
  /** Whether the connection closed before the response was complete. */
  brokenOff?: boolean
}

/**
 * Writes one line per request in the logger's format, but built by hand: serializing a line the general way,
 * and searching it for secrets, took a third of the time of a small request. Only the path and a forwarded
 * address come from outside; ids need no escaping.
 */
export function logRequest(log: Logger, request: LoggedRequest): void {
  const { id, path, status } = request
  const level = status < 400 && isRoutine(path) ? DEBUG : INFO
  if (level < log.levelVal) return
  const ms = Math.round(request.milliseconds * 10) / 10
  const parts = log as unknown as Record<symbol, unknown>
  const stream = parts[streamSym] as { write(line: string): void }
  stream.write(
    `{"level":${level},"time":"${timeText(Date.now())}"${parts[chindingsSym]},"requestId":"${id}${whatText(request)}${ms}${request.brokenOff ? ',"brokenOff":true' : ''}${whoText(request)}`,
  )
}

/** Paths of data begin with `/v1/`; they are not compared any further. */
function isRoutine(path: string): boolean {
  return !path.startsWith('/v1/') && (ROUTINE.has(path) || ASSETS.test(path))
}

/** Many requests end in one millisecond and resemble the previous one, so parts of the line are cached. */
let lastTime = { now: Number.NaN, text: '' }
let lastWhat = { method: '', path: '', status: 0, text: '' }
let lastWho: { address: string | undefined; keyId: string | undefined; text: string } | null = null

function timeText(now: number): string {
  if (now !== lastTime.now) lastTime = { now, text: new Date(now).toISOString() }
  return lastTime.text
}

function whatText({ method, path, status }: LoggedRequest): string {
  if (path !== lastWhat.path || status !== lastWhat.status || method !== lastWhat.method) {
    const shown = pathText(path)
    const text = `","method":"${method}","path":${shown},"status":${status},"ms":`
    lastWhat = { method, path, status, text }
  }
  return lastWhat.text
}

/** The path as JSON, without secrets. Every feature has another path, so the usual ones are not searched or escaped. */
function pathText(path: string): string {
  if (!hasLongSegment(path) && PLAIN.test(path)) return `"${path}"`
  return JSON.stringify(LONG_SEGMENT.test(path) ? redactSecrets(path) : path)
}

function hasLongSegment(path: string): boolean {
  let start = 0
  while (path.length - start >= SECRET_LENGTH) {
    const slash = path.indexOf('/', start)
    if (slash === -1 || slash - start >= SECRET_LENGTH) return true
    start = slash + 1
  }
  return false
}

function whoText({ address, keyId }: LoggedRequest): string {
  if (lastWho === null || address !== lastWho.address || keyId !== lastWho.keyId) {
    const key = keyId === undefined ? '' : `,"key":"${keyId}"`
    lastWho = {
      address,
      keyId,
      text: `,"address":${JSON.stringify(address ?? null)}${key},"msg":"request"}\n`,
    }
  }
  return lastWho.text
}
