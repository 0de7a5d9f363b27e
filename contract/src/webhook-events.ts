/** What a webhook can be told, as the console and the documentation show it. */
export const WEBHOOK_EVENT_MEANINGS = {
  'key.created': 'A key was created.',
  'key.rotated': 'A key has a new secret.',
  'key.revoked': 'A key was revoked.',
  'key.deleted': 'A key was deleted.',
  'key.expiring': 'A key expires in 14, 3 or 1 days.',
  'key.expired': 'A key has expired.',
  'credits.low': 'The credits fell below the limit that the organization set.',
  'credits.exhausted': 'The credits are used up, or a download was refused because too few were left.',
  'dataset.published': 'A dataset was published, or has a new version.',
  'dataset.changed': 'The description, price or visibility of a dataset changed.',
  'dataset.unpublished': 'A dataset was removed.',
  'source.failed': 'A dataset that the organization publishes could not be refreshed from its source.',
  'member.added': 'Somebody became a member.',
  'member.changed': 'The permissions of a member changed.',
  'member.removed': 'A member was removed.',
  'member.left': 'A member left.',
  'grant.given': 'The organization got access to a dataset.',
  'grant.ended': 'Access to a dataset was taken away.',
} as const

export type WebhookEvent = keyof typeof WEBHOOK_EVENT_MEANINGS

export const WEBHOOK_EVENTS = Object.keys(WEBHOOK_EVENT_MEANINGS) as readonly WebhookEvent[]

/** The type of the message that the test button sends; every webhook gets it. */
export const WEBHOOK_TEST = 'webhook.test'

/** Mails that the service sends by itself, each of which can be switched off. */
export const NOTICE_MEANINGS = {
  'key-expiring': 'A key expires in 14, 3 or 1 days.',
  'credits-low': 'The credits fall below the limit, or are used up.',
  'dataset-version': 'A dataset that the organization has bought has a new version.',
  'webhook-paused': 'A webhook was paused because its receiver failed for a day.',
  'access-requested': 'An organization asks for add-ons or credits. For administrators of the service.',
} as const

export type Notice = keyof typeof NOTICE_MEANINGS

export const NOTICES = Object.keys(NOTICE_MEANINGS) as readonly Notice[]
