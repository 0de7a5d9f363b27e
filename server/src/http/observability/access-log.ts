import type { FastifyReply } from 'fastify'
import pino, { type DestinationStream } from 'pino'
import { SECOND } from '../../base/clock.ts'
import { redactSecrets } from '../../base/redact.ts'
import type { LoggedRequest } from './request-log.ts'

const BUFFER_BYTES = 8 * 1024
const MAX_DELAY = SECOND
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** What the common log format has beside what the request log has. */
export interface AccessedRequest extends LoggedRequest {
  httpVersion: string
  /** The length of the body; null if it was not stated before it was sent. */
  bytes: number | null
}

type Destination = DestinationStream & { flush(): void; flushSync(): void; end(): void }

/**
 * Writes one line for each request to a file, in the common log format, which programs such as GoAccess and AWStats
 * read. The user is the id of the API key. The query string is left out, because it may contain a key. The file is
 * opened for appending, so that it can be copied and truncated while the service runs (`copytruncate` of logrotate).
 */
export class AccessLog {
  readonly #destination: Destination
  readonly #timer: NodeJS.Timeout

  constructor(file: string) {
    this.#destination = pino.destination({
      dest: file,
      append: true,
      mkdir: true,
      mode: 0o600,
      sync: false,
      minLength: BUFFER_BYTES,
    }) as Destination
    // A buffer that is not full is written after a second at most.
    this.#timer = setInterval(() => this.#destination.flush(), MAX_DELAY).unref()
  }

  write(request: AccessedRequest, now: Date): void {
    this.#destination.write(commonLogLine(request, now))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#destination.flushSync()
    this.#destination.end()
  }
}

/** The length of the body that the head of the response stated; null if it stated none or no body was sent. */
export function statedLength(method: string, reply: FastifyReply): number | null {
  // Fastify keeps the headers that it adds itself, and a response that was sent past it has its own.
  const length = reply.getHeader('content-length') ?? reply.raw.getHeader('content-length')
  return length === undefined || method === 'HEAD' ? null : Number(length)
}

export function commonLogLine(request: AccessedRequest, now: Date): string {
  const { address, keyId, method, path, httpVersion, status, bytes } = request
  const line = `${method} ${quotable(redactSecrets(path))} HTTP/${httpVersion}`
  return `${address ?? '-'} - ${keyId ?? '-'} [${timeText(now)}] "${line}" ${status} ${bytes ?? '-'}\n`
}

/** Quotes, backslashes and everything that is not printable ASCII are escaped, as Apache does. */
function quotable(text: string): string {
  return text.replace(/["\\]|[^\x20-\x7e]/g, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`
    return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
  })
}

/** Such as `16/Nov/2026:03:32:00 +0000`, always in UTC. */
function timeText(now: Date): string {
  const [year, month, day] = now.toISOString().slice(0, 10).split('-')
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${now.toISOString().slice(11, 19)} +0000`
}
