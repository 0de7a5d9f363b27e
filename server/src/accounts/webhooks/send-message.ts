import type { IncomingMessage } from 'node:http'
import type { DeliveryRecord } from '@wayleave/contract/records'
import { SECOND } from '../../base/clock.ts'
import { OutsideRefused, outsideRequest } from '../../base/outside/outside-request.ts'
import { version } from '../../base/version.ts'
import { type SignedMessage, signedHeaders } from './signature.ts'

export type Attempt = DeliveryRecord['attempts'][number]

/** A receiver responds within this time, as the Standard Webhooks specification recommends (15 to 30 s). */
const TIMEOUT = 15 * SECOND
/** The body of a response is not used; a short one is read, so that the receiver sees its response accepted. */
const MAX_BODY = 64 * 1024
const BODY_TIME = SECOND

export interface Receiver {
  url: string
  secrets: readonly string[]
}

export interface SendOptions {
  allowInternal: boolean
  /** Aborts at a stop. */
  signal: AbortSignal
  timeoutMs?: number
}

/** Sends a message once. Throws only if the signal aborts. Of a response only the status is kept. */
export async function sendMessage(
  message: SignedMessage,
  { url, secrets }: Receiver,
  { allowInternal, signal, timeoutMs = TIMEOUT }: SendOptions,
): Promise<Attempt> {
  const began = performance.now()
  const result = (status: number | null, error: string | null): Attempt => ({
    at: message.at.toISOString(),
    status,
    error,
    milliseconds: Math.round(performance.now() - began),
  })
  try {
    const response = await outsideRequest(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(message.payload),
        'user-agent': `Wayleave/${version}`,
        ...signedHeaders(message, secrets),
      },
      body: message.payload,
      allowInternal,
      timeoutMs,
      signal,
    })
    discard(response)
    const status = response.statusCode ?? 0
    if (status >= 300 && status < 400) return result(status, 'The receiver redirects, which is refused.')
    return result(status, null)
  } catch (error) {
    signal.throwIfAborted()
    return result(null, reasonOf(error))
  }
}

export function isDelivered({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300
}

function discard(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), BODY_TIME).unref()
  let bytes = 0
  response
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY) response.destroy()
    })
    .on('error', () => {})
    .on('close', () => clearTimeout(timer))
}

function reasonOf(error: unknown): string {
  if (error instanceof OutsideRefused) return error.message
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOTFOUND') return 'The host has no address.'
  if (code === 'ECONNREFUSED') return 'The connection was refused.'
  if (code !== undefined) return `The connection failed: ${code}.`
  return message.startsWith('No answer') ? 'The receiver did not respond in time.' : 'The request failed.'
}
