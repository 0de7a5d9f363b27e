import { Type } from 'typebox'

/** POST requests to these paths may have the header `Idempotency-Key`. Events of providers have ids of their own. */
export const IDEMPOTENT_PATHS = /^\/v1\/(admin|billing)\/(?!events\/)/

export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Random text that names the request, such as a UUID. For 24 hours a repeated request with the same key and body gets the first response, with `Idempotency-Replayed: true`, and nothing is done again.',
    }),
  ),
})
