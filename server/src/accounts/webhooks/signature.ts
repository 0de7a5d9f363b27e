import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A secret as the Standard Webhooks specification writes it: a prefix and 24 to 64 random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

export interface SignedMessage {
  id: string
  at: Date
  payload: string
}

/**
 * The headers of a message (Standard Webhooks 1.0). With two secrets, during a rotation, there are two signatures, and
 * the receiver accepts either.
 */
export function signedHeaders(
  { id, at, payload }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
