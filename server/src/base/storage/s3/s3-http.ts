import type http from 'node:http'
import https from 'node:https'
import { Agent, request as httpRequest } from '../../node-http.ts'
import type { S3Signer } from './s3-signer.ts'

/** Connections to the store that are kept open. */
const MAX_SOCKETS = 64
/** How long an idle connection is kept, in ms. Most stores close it earlier. */
const MAX_IDLE = 120_000
/** SHA-256 of no bytes. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface S3Call {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD'
  url: URL
  headers?: Record<string, string>
  body?: Uint8Array
  /** The SHA-256 of the body in hex. It is signed, so the store rejects other bytes. */
  bodySha256?: string
  /** How long the connection may be silent, in ms. */
  idleMs: number
  signal?: AbortSignal | undefined
  /** Receives the bytes of a successful response; without it they are in the result. */
  onBytes?: (bytes: Buffer, headers: http.IncomingHttpHeaders) => void
}

export interface S3Response {
  status: number
  headers: http.IncomingHttpHeaders
  body: Buffer
}

class StaleConnectionError extends Error {}

/** Sends one attempt of a call over connections that are kept alive. */
export class S3Http {
  readonly #signer: S3Signer
  readonly #agents = {
    'http:': new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: MAX_IDLE }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, timeout: MAX_IDLE }),
  }

  constructor(signer: S3Signer) {
    this.#signer = signer
  }

  /** Rejects if the connection breaks or is silent for too long. */
  async send(call: S3Call): Promise<S3Response> {
    const { method, url, body, bodySha256 = EMPTY_SHA256 } = call
    const headers = await this.#signer.headersOf(method, url, {
      ...call.headers,
      'x-amz-content-sha256': bodySha256,
    })
    if (body) headers['content-length'] = String(body.length)
    return this.#exchange(call, headers).catch((error: unknown) => {
      // The store closed an idle connection just when it was used again, which is not a sign of an outage.
      if (error instanceof StaleConnectionError) return this.#exchange(call, headers)
      throw error
    })
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  #exchange(call: S3Call, headers: Record<string, string>): Promise<S3Response> {
    const { method, url, body, idleMs, signal, onBytes } = call
    const protocol = url.protocol as 'http:' | 'https:'
    const start = protocol === 'http:' ? httpRequest : https.request
    return new Promise((resolve, reject) => {
      let hasResponse = false
      const request = start(url, { method, headers, agent: this.#agents[protocol], signal })
      request.setTimeout(idleMs, () => request.destroy(new Error(`silent for ${idleMs} ms`)))
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(isStale && !hasResponse ? new StaleConnectionError() : error)
      })
      request.on('response', (response) => {
        hasResponse = true
        const status = response.statusCode ?? 0
        const pieces: Buffer[] = []
        const isStreamed = onBytes !== undefined && status >= 200 && status < 300
        response.on('data', (piece: Buffer) => {
          try {
            if (isStreamed) onBytes(piece, response.headers)
            else pieces.push(piece)
          } catch (error) {
            reject(error)
            request.destroy()
          }
        })
        response.on('error', reject)
        // Emitted without `end` if the connection breaks inside the body.
        response.on('aborted', () => reject(new Error('the connection broke inside the body')))
        response.on('end', () => resolve({ status, headers: response.headers, body: Buffer.concat(pieces) }))
      })
      request.end(body)
    })
  }
}
