import { Type } from 'typebox'
import type { App } from '../../../http/fastify-app.ts'
import { LONG_BODY_LIMIT } from '../../../http/json-bodies.ts'
import { tags } from '../../../http/openapi.ts'
import type { Billing } from '../billing.ts'

/** Where Stripe sends its events. The body is checked as it was sent: the signature covers the bytes. */
export function stripeRoutes(app: App, { billing }: { billing: Billing }): void {
  const { stripeEvents } = billing
  if (!stripeEvents) return
  void app.register(async (scope: App) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.post('/v1/billing/events/stripe', {
      bodyLimit: LONG_BODY_LIMIT,
      schema: {
        tags: [tags.billing],
        problems: ['event-refused', 'payment-unavailable', 'unsupported-media-type'],
        summary: 'Take an event of Stripe',
        description: 'For Stripe alone: the signature is checked. An event changes the books once.',
        documented: {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { type: 'object' } } },
          },
        },
        response: { 200: Type.Object({ received: Type.Boolean() }) },
      },
      handler: async (request) => {
        const signature = request.headers['stripe-signature']
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const origin = { actor: 'system', address: request.ip, requestId: request.id }
        await stripeEvents.receive(origin, body, typeof signature === 'string' ? signature : undefined)
        return { received: true }
      },
    })
  })
}
