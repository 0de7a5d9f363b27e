import { ORDER_STATES, PAYMENT_PROVIDERS } from '@wayleave/contract/billing-states'
import {
  billingProfileChangeSchema,
  billingProfileSchema,
  checkoutSchema,
  invoiceSchema,
  orderSchema,
  pageByIdSchema,
  productSchema,
  startedCheckoutSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { readPage } from '../../http/schemas.ts'
import { type BillingRoutesDeps, callerOf, documented } from './billing-caller.ts'
import { planRoutes } from './plan-routes.ts'

export const orderPath = Type.Object({ orderId: Type.String() })
export const orderListQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Unsafe<(typeof ORDER_STATES)[number]>({ type: 'string', enum: [...ORDER_STATES] }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows a page.' }),
    after: Type.Optional(
      Type.String({ pattern: '^[0-9A-Za-z_]{1,40}$', description: 'The `next` of the page before.' }),
    ),
  },
  { additionalProperties: false },
)

/** What members of an organization buy. Without a payment provider there are no such routes. */
export function billingRoutes(app: App, deps: BillingRoutesDeps): void {
  if (deps.billing.providers.length === 0) return
  orderRoutes(app, deps)
  invoiceRoutes(app, deps)
  planRoutes(app, deps)
}

function orderRoutes(app: App, deps: BillingRoutesDeps): void {
  const { billing, products, authenticate } = deps
  const onRequest = authenticate.user

  app.get('/v1/billing/products', {
    onRequest,
    schema: {
      ...documented,
      summary: 'What can be bought',
      response: {
        200: Type.Object({
          data: Type.Array(productSchema),
          providers: Type.Array(Type.String({ enum: [...PAYMENT_PROVIDERS] }), {
            description: 'The ways to pay; the first one is the default.',
          }),
        }),
      },
    },
    handler: async () => ({
      data: await products.sold(),
      providers: billing.providers.map(({ name }) => name),
    }),
  })

  app.post('/v1/billing/checkout', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing', 'conflict', 'payment-unavailable'],
      summary: 'Order a product',
      description:
        'Needs BILLING_MANAGE. Creates an order and an address to pay at. 409 for a product that is not sold any more, and for a plan while the organization has one.',
      body: checkoutSchema,
      response: { 201: startedCheckoutSchema },
    },
    handler: async (request, reply) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return reply.code(201).send(await billing.orders.checkout(caller, organizationId, request.body))
    },
  })

  app.get('/v1/billing/orders', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'The orders of the organization, newest first',
      description: 'Needs BILLING_VIEW.',
      querystring: orderListQuery,
      response: { 200: pageByIdSchema(orderSchema) },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return readPage(request.query.limit, (limit) =>
        billing.orders.list(caller, organizationId, { ...request.query, limit }),
      )
    },
  })

  app.get('/v1/billing/orders/:orderId', {
    onRequest,
    schema: {
      ...documented,
      problems: ['permission-missing'],
      summary: 'An order',
      description: 'Needs BILLING_VIEW.',
      params: orderPath,
      response: { 200: orderSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return billing.orders.find(caller, organizationId, request.params.orderId)
    },
  })
}

function invoiceRoutes(app: App, deps: BillingRoutesDeps): void {
  const { profiles } = deps.billing
  const onRequest = deps.authenticate.user

  app.get('/v1/billing/invoices', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'The invoices and credit notes of the organization, newest first',
      description: 'Needs BILLING_VIEW. At most 1000. Invoices of Stripe are in its customer portal.',
      response: { 200: Type.Object({ data: Type.Array(invoiceSchema) }) },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return { data: await profiles.invoices(caller, organizationId) }
    },
  })

  app.get('/v1/billing/invoices/:invoiceFile', {
    onRequest,
    schema: {
      ...documented,
      problems: ['permission-missing'],
      summary: 'An invoice or a credit note as a PDF file',
      description: 'Needs BILLING_VIEW.',
      documented: {
        responses: {
          200: {
            description: 'The file.',
            content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
          },
        },
      },
      params: Type.Object({ invoiceFile: Type.String() }),
    },
    handler: async (request, reply) => {
      const { caller, organizationId } = await callerOf(deps, request)
      const { invoiceFile } = request.params
      const pdf = await profiles.invoicePdf(caller, organizationId, invoiceFile)
      return reply
        .header('content-type', 'application/pdf')
        .header('content-disposition', `inline; filename="${invoiceFile}"`)
        .send(pdf)
    },
  })

  app.post('/v1/billing/portal', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing', 'payment-unavailable'],
      summary: 'Open the customer portal of Stripe',
      description:
        'Needs BILLING_MANAGE. The address of a page where the organization sees the invoices of Stripe and changes how it pays; it works for a few minutes. 404 if nothing was paid by Stripe.',
      response: { 200: Type.Object({ url: Type.String() }) },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      const returnUrl = `${deps.billing.baseUrl()}/organization/billing`
      return { url: await profiles.portal(caller, organizationId, returnUrl) }
    },
  })

  app.get('/v1/billing/profile', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'What stands on invoices, and when the organization is told that credits run out',
      description: 'Needs BILLING_VIEW.',
      response: { 200: billingProfileSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return profiles.find(caller, organizationId)
    },
  })

  app.patch('/v1/billing/profile', {
    onRequest,
    schema: {
      ...documented,
      problems: ['not-found', 'permission-missing'],
      summary: 'Change what stands on invoices',
      description: 'Needs BILLING_MANAGE. Invoices that were issued stay as they are.',
      body: billingProfileChangeSchema,
      response: { 200: billingProfileSchema },
    },
    handler: async (request) => {
      const { caller, organizationId } = await callerOf(deps, request)
      return profiles.change(caller, organizationId, request.body)
    },
  })
}
