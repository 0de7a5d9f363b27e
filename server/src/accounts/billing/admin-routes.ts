import {
  adminOrderSchema,
  newProductSchema,
  pageByIdSchema,
  productChangeSchema,
  productSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Billing } from './billing.ts'
import type { Products } from './products/products.ts'
import { orderListQuery, orderPath } from './routes.ts'

export interface BillingAdministrationDeps {
  billing: Billing
  products: Products
  authenticate: Authenticate
}

const documented = { tags: [tags.administration], security: security.administrator }
const productPath = Type.Object({ productId: Type.String() })

/** Products and orders, for platform administrators. Without a payment provider there are no such routes. */
export function billingAdministrationRoutes(app: App, deps: BillingAdministrationDeps): void {
  if (deps.billing.providers.length === 0) return
  productRoutes(app, deps)
  orderRoutes(app, deps)
}

function productRoutes(app: App, { products, authenticate }: BillingAdministrationDeps): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/products', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All products, also those that are not sold any more',
      response: { 200: Type.Object({ data: Type.Array(productSchema) }) },
    },
    handler: async () => ({ data: await products.all() }),
  })

  app.post('/v1/admin/products', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Add a credit pack or a plan',
      body: newProductSchema,
      response: { 201: productSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await products.add(authenticate.originOf(request), request.body)),
  })

  app.patch('/v1/admin/products/:productId', {
    onRequest,
    schema: {
      ...documented,
      problems: ['conflict'],
      summary: 'Add a revision of a product',
      description: 'What is left out stays as it is. Orders and plans keep the revision that was bought.',
      params: productPath,
      body: productChangeSchema,
      response: { 200: productSchema },
    },
    handler: (request) =>
      products.change(authenticate.originOf(request), request.params.productId, request.body),
  })

  app.post('/v1/admin/products/:productId/retire', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Stop selling a product',
      params: productPath,
      response: { 200: productSchema },
    },
    handler: (request) => products.retire(authenticate.originOf(request), request.params.productId),
  })
}

function orderRoutes(app: App, { billing: { orders }, authenticate }: BillingAdministrationDeps): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/orders', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All orders, newest first',
      querystring: orderListQuery,
      response: { 200: pageByIdSchema(adminOrderSchema) },
    },
    handler: ({ query }) => readPage(query.limit, (limit) => orders.all({ ...query, limit })),
  })

  app.post('/v1/admin/orders/:orderId/paid', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      problems: ['conflict'],
      summary: 'Mark an order as paid',
      description:
        'Adds its credits to the balance, or begins its plan. For open orders, and for those whose payment is held.',
      params: orderPath,
      response: { 200: adminOrderSchema },
    },
    handler: (request) => orders.markPaid(authenticate.originOf(request), request.params.orderId),
  })

  app.post('/v1/admin/orders/:orderId/refund', {
    onRequest,
    schema: {
      ...documented,
      problems: ['conflict', 'payment-unavailable'],
      summary: 'Refund an order',
      description:
        'Returns the money by the provider, as far as it can, and takes the same part of the credits back. The balance may become negative: downloads are 402 then.',
      params: orderPath,
      body: Type.Object(
        {
          amount: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: Number.MAX_SAFE_INTEGER,
              description: 'In minor units. Without it, everything.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: adminOrderSchema },
    },
    handler: (request) =>
      orders.refund(authenticate.originOf(request), request.params.orderId, request.body.amount),
  })

  app.post('/v1/admin/orders/:orderId/cancel', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      problems: ['conflict'],
      summary: 'Cancel an order that is not paid',
      params: orderPath,
      response: { 200: adminOrderSchema },
    },
    handler: (request) =>
      orders.cancel(authenticate.originOf(request), request.params.orderId, 'The operator cancelled it.'),
  })
}
