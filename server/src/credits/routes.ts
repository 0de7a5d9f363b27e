import { Type } from 'typebox'
import type { Authenticate } from '../access/authenticate.ts'
import type { App } from '../http/fastify-app.ts'
import { security, tags } from '../http/openapi.ts'
import { nullable, pageQuery, pageSchema, readPage } from '../http/schemas.ts'
import type { Ledger } from './ledger.ts'
import type { LedgerKind } from './ledger-store.ts'

const ledgerRow = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  kind: Type.Unsafe<LedgerKind>({
    type: 'string',
    enum: ['grant', 'correction', 'download', 'refund'],
  }),
  amount: Type.Integer({ description: 'Positive: credits that came. Negative: credits that were spent.' }),
  balance: Type.Integer({ description: 'What was left after it.' }),
  keyId: nullable(Type.String()),
  table: nullable(Type.String()),
  version: nullable(Type.Integer()),
  format: nullable(Type.String()),
  actor: nullable(Type.String({ description: 'Who did it: `user:<id>`, `key:<id>` or `operator`.' })),
})

export function creditRoutes(
  app: App,
  { ledger, authenticate }: { ledger: Ledger; authenticate: Authenticate },
): void {
  app.get('/v1/organization/:organizationId/ledger', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.organizations],
      security: security.token,
      summary: 'Every credit that came and went, newest first',
      description: 'Needs BILLING_VIEW.',
      params: Type.Object({ organizationId: Type.String() }),
      querystring: pageQuery,
      response: { 200: pageSchema(ledgerRow) },
    },
    handler: (request) => {
      const { limit, before } = request.query
      const { userId } = authenticate.userOf(request)
      return readPage(limit, (rows) =>
        ledger.list(userId, request.params.organizationId, { before, limit: rows }),
      )
    },
  })
}
