import { LEDGER_KINDS, type LedgerRow, ledgerRowSchema, NO_NUL, pageSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import { csvResponse, sendCsv } from '../../http/csv-response.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { pageQuery, readPage, storedTime } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Ledger } from './ledger.ts'
import type { LedgerFilter } from './ledger-store.ts'

const documented = { tags: [tags.organizations], security: security.token }
const params = Type.Object({ organizationId: Type.String() })
export const ledgerFilterFields = {
  kind: Type.Optional(
    Type.Unsafe<(typeof LEDGER_KINDS)[number]>({ type: 'string', enum: [...LEDGER_KINDS] }),
  ),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'At this time or after it.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time.' })),
  keyId: Type.Optional(Type.String({ pattern: '^\\w{1,40}$', description: 'Downloads with this key.' })),
  userId: Type.Optional(
    Type.String({
      pattern: '^\\w{1,40}$',
      description: 'Downloads of this user in the console or with a personal key.',
    }),
  ),
  table: Type.Optional(
    Type.String({ maxLength: 63, pattern: NO_NUL, description: 'Downloads of this dataset.' }),
  ),
}

type QueryFilter = Omit<LedgerFilter, 'limit' | 'before'>

/** The filter of a query, with its times as they are stored. */
export function ledgerFilterOf(filter: QueryFilter): QueryFilter {
  const { kind, since, until, keyId, userId, table } = filter
  return {
    kind,
    since: storedTime('since', since),
    until: storedTime('until', until),
    keyId,
    userId,
    table,
  }
}

export function creditRoutes(
  app: App,
  { ledger, authenticate }: { ledger: Ledger; authenticate: Authenticate },
): void {
  app.get('/v1/organization/:organizationId/ledger', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'All credits granted and spent, newest first',
      description: 'Needs BILLING_VIEW.',
      params,
      querystring: Type.Object(
        { ...pageQuery.properties, ...ledgerFilterFields },
        { additionalProperties: false },
      ),
      response: { 200: pageSchema(ledgerRowSchema) },
    },
    handler: (request) => {
      const { limit: pageLimit, before, ...filter } = request.query
      const caller = authenticate.userOf(request)
      return readPage(pageLimit, (limit) =>
        ledger.list(caller, request.params.organizationId, { ...ledgerFilterOf(filter), before, limit }),
      )
    },
  })

  app.get('/v1/organization/:organizationId/ledger.csv', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'All credits granted and spent, as a CSV file',
      description: 'Needs BILLING_VIEW.',
      documented: csvResponse,
      params,
      querystring: Type.Object(ledgerFilterFields, { additionalProperties: false }),
    },
    handler: (request, reply) => {
      const caller = authenticate.userOf(request)
      const filter = ledgerFilterOf(request.query)
      return sendCsv<LedgerRow>(reply, {
        name: 'ledger.csv',
        heads: [
          'id',
          'at',
          'kind',
          'amount',
          'balance',
          'table',
          'version',
          'format',
          'key',
          'keyName',
          'member',
        ],
        cells: (row) => [
          row.id,
          row.at,
          row.kind,
          row.amount,
          row.balance,
          row.table,
          row.version,
          row.format,
          row.keyId,
          row.keyName,
          row.member,
        ],
        read: (page) => ledger.list(caller, request.params.organizationId, { ...filter, ...page }),
      })
    },
  })
}
