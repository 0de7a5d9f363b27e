import { billingReportSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { ControlDatabase } from '../../../base/database/open.ts'
import { invalidInput } from '../../../base/problem.ts'
import type { Config } from '../../../base/settings/config.ts'
import { csvResponse, sendCsv } from '../../../http/csv-response.ts'
import type { App } from '../../../http/fastify-app.ts'
import { security, tags } from '../../../http/openapi.ts'
import { storedTime } from '../../../http/schemas.ts'
import type { Authenticate } from '../../access/authenticate.ts'
import type { Billing } from '../billing.ts'
import {
  type BookingRow,
  readBookings,
  readCreditsByDataset,
  readRevenueByMonth,
  readRevenueByProduct,
} from './report-store.ts'

export interface ReportRoutesDeps {
  billing: Billing
  database: ControlDatabase
  authenticate: Authenticate
  config: Pick<Config, 'publisherShare'>
}

const documented = { tags: [tags.administration], security: security.administrator }
const rangeQuery = Type.Object(
  {
    since: Type.String({ format: 'date-time', description: 'At this time or after it.' }),
    until: Type.String({ format: 'date-time', description: 'Before this time.' }),
  },
  { additionalProperties: false },
)

const BOOKING_HEADS = [
  'id',
  'at',
  'organizationId',
  'organizationName',
  'kind',
  'credits',
  'balance',
  'table',
  'orderId',
  'state',
  'provider',
  'paymentReference',
  'amount',
  'currency',
  'invoiceId',
] as const satisfies readonly (keyof BookingRow)[]

/** Revenue and bookings, for platform administrators. */
export function reportRoutes(app: App, { billing, database, authenticate, config }: ReportRoutesDeps): void {
  if (billing.providers.length === 0) return
  const onRequest = authenticate.administrator
  const { db } = database

  app.get('/v1/admin/billing/report', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Revenue by month and product, and credits by dataset',
      description: 'Of orders that were paid in this time; refunds count for the time of the payment.',
      querystring: rangeQuery,
      response: { 200: billingReportSchema },
    },
    handler: async ({ query }) => {
      const { since, until } = rangeOf(query)
      const datasets = await readCreditsByDataset(db, since, until)
      return {
        months: await readRevenueByMonth(db, since, until),
        products: await readRevenueByProduct(db, since, until),
        datasets: datasets.map(({ table, credits, published }) => ({
          table,
          credits,
          publisherCredits: Math.floor((published * config.publisherShare) / 100),
        })),
      }
    },
  })

  app.get('/v1/admin/billing/bookings.csv', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All bookings of a time as a CSV file, newest first',
      description:
        'Every ledger row of every organization, with its order. `amount` is what was paid by it, or with a minus returned, in minor units and without tax: its sum is the revenue less refunds.',
      documented: csvResponse,
      querystring: rangeQuery,
    },
    handler: (request, reply) => {
      const range = rangeOf(request.query)
      return sendCsv<BookingRow>(reply, {
        name: 'bookings.csv',
        heads: [...BOOKING_HEADS],
        cells: (row) => BOOKING_HEADS.map((name) => row[name]),
        read: (page) => readBookings(db, { ...range, ...page }),
      })
    },
  })
}

function rangeOf(query: { since: string; until: string }): { since: string; until: string } {
  const since = storedTime('since', query.since)!
  const until = storedTime('until', query.until)!
  if (since >= until) throw invalidInput('until', 'must be after since')
  return { since, until }
}
