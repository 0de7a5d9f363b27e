import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanUp } from './cleanup.ts'

/** A proxy on loopback between a node and its bucket, which fails in the ways in which networks and stores do. */
export class S3Proxy {
  /** Milliseconds by which each response is delayed. */
  delayMs = 0
  /** How many of the next responses with a body break off in its middle. */
  cuts = 0
  /** How many of the next requests get 503 SlowDown. */
  slowDowns = 0
  /** How many of the next responses have a wrong byte. */
  flips = 0
  /** Requests get no response, as if the store were frozen. */
  isFrozen = false
  /** Connections are closed at once, as if the store were down. */
  isDown = false
  /** The requests that were forwarded, as `METHOD /path range`. */
  readonly requests: string[] = []
  bytes = 0
  /** For each request, the paths that waited for a response when it arrived, its own included. */
  readonly waiting: string[][] = []
  readonly #open = new Set<IncomingMessage>()
  readonly #target: URL
  readonly #server: Server

  private constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((clientRequest, answer) => void this.#handle(clientRequest, answer))
  }

  static async open(t: TestContext, target: string = s3Url()): Promise<S3Proxy> {
    const proxy = new S3Proxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    cleanUp(t, async () => {
      proxy.#server.closeAllConnections()
      await new Promise((resolve) => proxy.#server.close(resolve))
    })
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Cuts the connections that wait for a frozen store. */
  dropConnections(): void {
    this.#server.closeAllConnections()
  }

  async #handle(clientRequest: IncomingMessage, answer: ServerResponse): Promise<void> {
    clientRequest.on('error', () => {})
    answer.on('error', () => {})
    if (this.isDown) return void clientRequest.socket.destroy()
    if (this.isFrozen) return
    if (this.slowDowns > 0) {
      this.slowDowns--
      clientRequest.resume()
      answer.writeHead(503, { 'content-type': 'application/xml' })
      answer.end(
        '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>',
      )
      return
    }
    this.#open.add(clientRequest)
    answer.on('close', () => this.#open.delete(clientRequest))
    this.waiting.push(Array.from(this.#open, ({ url }) => url!))
    if (this.delayMs > 0) await sleep(this.delayMs)
    this.requests.push(
      `${clientRequest.method} ${clientRequest.url} ${clientRequest.headers.range ?? ''}`.trim(),
    )
    const { hostname, port } = this.#target
    // The signature covers the host name of the request, so it is forwarded as it is.
    const forwarded = request({
      hostname,
      port,
      method: clientRequest.method,
      path: clientRequest.url,
      headers: clientRequest.headers,
    })
    forwarded.on('error', () => answer.destroy())
    forwarded.on('response', (response) => this.#respond(response, answer))
    clientRequest.pipe(forwarded)
  }

  #respond(response: IncomingMessage, answer: ServerResponse): void {
    response.on('error', () => answer.destroy())
    const pieces: Buffer[] = []
    response.on('data', (piece: Buffer) => pieces.push(piece))
    response.on('end', () => {
      const body = Buffer.concat(pieces)
      this.bytes += body.length
      const { 'transfer-encoding': _, ...headers } = response.headers
      const length = response.headers['content-length'] ?? String(body.length)
      answer.writeHead(response.statusCode!, { ...headers, 'content-length': length })
      if (this.flips > 0 && body.length > 1000) {
        this.flips--
        body[500]! ^= 1
      }
      if (this.cuts > 0 && body.length > 1000) {
        this.cuts--
        answer.write(body.subarray(0, body.length >> 1), () => answer.socket?.destroy())
      } else answer.end(body)
    })
  }
}

/** The S3 server of the tests. */
export function s3Url(): string {
  const url = process.env['WAYLEAVE_TEST_S3_URL']
  if (!url) throw new Error('WAYLEAVE_TEST_S3_URL is not set: run the tests with npm test.')
  return url
}
