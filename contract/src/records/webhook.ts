import { type Static, Type } from 'typebox'
import { MAX_OVERLAP } from '../permissions.ts'
import { NOTICES, WEBHOOK_EVENTS } from '../webhook-events.ts'
import { documentedAs, NO_NUL, nullable, oneOf, time } from './schema-parts.ts'

const id = Type.String({ description: 'Identifies the webhook in paths.' })
const URL_MEANING =
  'Where messages are sent by POST: an https address without user name and password. Addresses inside the network of the service, and http, need WAYLEAVE_ALLOW_INTERNAL_ADDRESSES.'
const EVENTS_MEANING = 'What it is told.'
const events = Type.Array(oneOf(WEBHOOK_EVENTS), {
  description: EVENTS_MEANING,
  minItems: 1,
  maxItems: WEBHOOK_EVENTS.length,
  uniqueItems: true,
})
const description = Type.String({
  description: 'A note for people.',
  maxLength: 200,
  pattern: NO_NUL,
})
const secret = Type.String({
  description: 'Signs the messages: `whsec_` and a key in base64. Shown this once and never again.',
})

const attempt = Type.Object({
  at: time,
  status: nullable(Type.Integer({ description: 'The status of the response; null without one.' })),
  error: nullable(Type.String()),
  milliseconds: Type.Integer(),
})

/** One attempt to send a message. */
export type DeliveryAttempt = Static<typeof attempt>

export const webhookSchema = Type.Object({
  id,
  url: Type.String({ description: URL_MEANING }),
  events: Type.Array(Type.String(), { description: EVENTS_MEANING }),
  description: Type.String(),
  status: oneOf(['active', 'failing', 'paused'], {
    description:
      '`failing`: the last attempt failed, and is repeated. `paused`: nothing is sent, because a member paused it or its receiver failed for a day.',
  }),
  failingSince: nullable(time),
  pausedAt: nullable(time),
  pauseReason: nullable(Type.String({ description: 'Why the service paused it; null if a member did.' })),
  previousSecretEndsAt: nullable(
    Type.String({ format: 'date-time', description: 'Until then messages have a second signature.' }),
  ),
  createdAt: time,
  recent: Type.Array(oneOf(['delivered', 'failed', 'waiting']), {
    description:
      'How the last messages went, at most 30, newest first. `failed`: the last attempt failed, also if the message is tried again.',
  }),
  lastAttempt: nullable(attempt),
})

/** A receiver of messages, without its secret. */
export type WebhookRecord = Static<typeof webhookSchema>

export const createdWebhookSchema = Type.Object({ ...webhookSchema.properties, secret })

export type CreatedWebhook = Static<typeof createdWebhookSchema>

const url = Type.String({
  description: URL_MEANING,
  maxLength: 2000,
  ...documentedAs({ pattern: '^https://hooks\\.example\\.org/[a-z]{0,9}$' }),
})

export const newWebhookSchema = Type.Object(
  { url, events, description: Type.Optional(description) },
  { additionalProperties: false },
)

export type NewWebhook = Static<typeof newWebhookSchema>

export const webhookChangeSchema = Type.Partial(
  Type.Object({
    url,
    events,
    description,
    paused: Type.Boolean({ description: 'Pauses it, or lets it go on.' }),
  }),
  { additionalProperties: false, minProperties: 1 },
)

export type WebhookChange = Static<typeof webhookChangeSchema>

export const webhookRotationSchema = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP,
        description: 'How long messages are signed with the old secret too. Without it, for a day.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const rotatedWebhookSchema = Type.Object({ id, secret, previousSecretEndsAt: nullable(time) })

export type RotatedWebhook = Static<typeof rotatedWebhookSchema>

export const deliverySchema = Type.Object({
  id: Type.String({ description: 'The `webhook-id`, which is the same for every attempt.' }),
  type: Type.String(),
  payload: Type.String({ description: 'The body as it is sent.' }),
  state: oneOf(['waiting', 'delivered', 'failed'], {
    description: '`failed`: it is not tried again by itself.',
  }),
  createdAt: time,
  nextAttemptAt: nullable(time),
  attempts: Type.Array(attempt, { description: 'The last 20.' }),
})

/** One message to one webhook. */
export type DeliveryRecord = Static<typeof deliverySchema>

export const noticeSwitchesSchema = Type.Object({
  email: Type.String({ description: 'Where the notices go.' }),
  data: Type.Array(Type.Object({ notice: oneOf(NOTICES), meaning: Type.String(), on: Type.Boolean() })),
  creditLimit: nullable(
    Type.Integer({
      description: 'Below this balance a notice is sent and `credits.low` happens. Null: never.',
    }),
  ),
})

export type NoticeSwitches = Static<typeof noticeSwitchesSchema>

export const noticeChangeSchema = Type.Object(
  {
    switches: Type.Optional(
      Type.Partial(Type.Object(Object.fromEntries(NOTICES.map((notice) => [notice, Type.Boolean()]))), {
        additionalProperties: false,
      }),
    ),
    creditLimit: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000_000_000,
          description: 'Of the organization. Needs BILLING_VIEW. Null: no limit.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
)

export type NoticeChange = Static<typeof noticeChangeSchema>
