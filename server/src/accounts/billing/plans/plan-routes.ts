import {
  orderedUpgradeSchema,
  planUpgradeSchema,
  startedCheckoutSchema,
  subscriptionSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../../http/fastify-app.ts'
import { withoutBody } from '../../../http/headers.ts'
import { type BillingRoutesDeps, callerOf, documented } from '../billing-caller.ts'

/** The plan of an organization: cancel, change at the end of the period, upgrade at once. */
export function planRoutes(app: App, deps: BillingRoutesDeps): void {
  const { plans, upgrades } = deps.billing
  const onRequest = deps.authenticate.user

  app.get('/v1/billing/subscription', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'The plan of the organization',
      description: 'Needs BILLING_VIEW. 404 without a plan.',
      response: { 200: subscriptionSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return plans.find(caller, organizationId)
    },
  })

  app.post('/v1/billing/subscription/cancel', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing', 'conflict', 'payment-unavailable'],
      summary: 'Cancel the plan at the end of its period',
      description: 'Needs BILLING_MANAGE.',
      response: { 200: subscriptionSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return plans.cancel(caller, organizationId)
    },
  })

  app.post('/v1/billing/subscription/change', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing', 'conflict', 'payment-unavailable'],
      summary: 'Change the plan at the end of its period',
      description:
        'Needs BILLING_MANAGE. The other plan follows at the price that it has now. A plan that Stripe renews can be followed by one of the same period and currency. With the current plan, a change or a cancellation is withdrawn.',
      body: Type.Object({ productId: Type.String({ maxLength: 40 }) }, { additionalProperties: false }),
      response: { 200: subscriptionSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return plans.change(caller, organizationId, request.body.productId)
    },
  })

  app.get('/v1/billing/subscription/upgrades', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'What larger plans cost now',
      description:
        'Needs BILLING_VIEW. Plans of the same period and currency with a higher price, for the rest of the period.',
      response: { 200: Type.Object({ data: Type.Array(planUpgradeSchema) }) },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return { data: await upgrades.list(caller, organizationId) }
    },
  })

  app.post('/v1/billing/subscription/upgrade', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing', 'conflict', 'payment-unavailable'],
      summary: 'Upgrade the plan in the middle of its period',
      description:
        'Needs BILLING_MANAGE. Creates an order for the difference of the prices for the rest of the period. The larger plan holds when it is paid; the period ends as before.',
      body: orderedUpgradeSchema,
      response: { 201: startedCheckoutSchema },
    },
    handler: async (request, reply) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return reply.code(201).send(await upgrades.order(caller, organizationId, request.body))
    },
  })
}
