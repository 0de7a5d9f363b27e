import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../caller.ts'
import { noteKey } from '../observability/request-keys.ts'

/**
 * A line break in a value would start another header (header injection). The same check as Node's, for
 * headers that are written without Node.
 */
const UNSAFE_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/**
 * A data request, the same for its handler whichever transport received it, and the headers of its response.
 * Headers that were set before a problem is thrown, such as `RateLimit`, are sent with the problem.
 */
export class Exchange {
  readonly request: IncomingMessage
  readonly caller: Caller
  readonly #response: ServerResponse
  #headerLines = ''
  #keyId: string | undefined
  #isLoggedByFastify = false

  constructor(request: IncomingMessage, response: ServerResponse, caller: Caller) {
    this.request = request
    this.caller = caller
    this.#response = response
  }

  /** The raw path and query. */
  get url(): string {
    return this.request.url!
  }

  setHeader(name: string, value: string): void {
    if (UNSAFE_VALUE.test(value)) throw new Error(`The header ${name} has a value that cannot be sent.`)
    this.#headerLines += `${name}: ${value}\r\n`
  }

  /** The same without the check, for values that are made of our own names and numbers. */
  setSafeHeader(name: string, value: string): void {
    this.#headerLines += `${name}: ${value}\r\n`
  }

  /** Adds preformatted lines `name: value\r\n`, for headers that never change. */
  addHeaderLines(lines: string): void {
    this.#headerLines += lines
  }

  /** Keeps the id of the key for the log. A field, because an entry in a WeakMap costs a microsecond to write and collect. */
  noteKey(keyId: string): void {
    this.#keyId = keyId
    if (this.#isLoggedByFastify) noteKey(this.request, keyId)
  }

  get keyId(): string | undefined {
    return this.#keyId
  }

  /** From now on Fastify logs the request, which finds the key by the request. */
  handOver(): void {
    this.#isLoggedByFastify = true
    if (this.#keyId !== undefined) noteKey(this.request, this.#keyId)
  }

  /** All headers, one per line, each terminated by CRLF. */
  get headerLines(): string {
    return this.#headerLines
  }

  /** All headers as pairs. */
  *headers(): Generator<[name: string, value: string]> {
    for (const line of this.#headerLines.split('\r\n')) {
      const colon = line.indexOf(': ')
      if (colon > 0) yield [line.slice(0, colon), line.slice(colon + 2)]
    }
  }

  /** Calls the function once the response is sent or the client has disconnected. */
  whenClosed(call: () => void): void {
    if (this.#response.closed) call()
    else this.#response.once('close', call)
  }

  /** Aborts when the client disconnects before the response is sent. */
  disconnected(): AbortSignal {
    const response = this.#response
    const controller = new AbortController()
    if (response.destroyed) controller.abort()
    response.once('close', () => {
      if (!response.writableEnded) controller.abort()
    })
    return controller.signal
  }
}
