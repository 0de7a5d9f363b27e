import type { KeyCipher } from '../identity/key-cipher.ts'
import type { StoredWebhook } from './store.ts'

/** The name that an encrypted secret is bound to, so that it cannot be moved to another webhook. */
export function secretName(webhookId: string): string {
  return `webhook:${webhookId}`
}

/** The secrets that sign now: the current one, and the one before during a rotation. */
export function secretsOf(webhook: StoredWebhook, cipher: KeyCipher, now: Date): string[] {
  const { id, secret, previous_secret: previous, previous_ends_at: endsAt } = webhook
  const isOverlap = previous !== null && endsAt !== null && Date.parse(endsAt) > now.getTime()
  return [secret, ...(isOverlap ? [previous] : [])].map((text) => cipher.decrypt(text, secretName(id)))
}
