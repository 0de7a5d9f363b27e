import { ledgerRowSchema, pageSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Authenticate } from '../access/authenticate.ts'
import type { App } from '../http/fastify-app.ts'
import { security, tags } from '../http/openapi.ts'
import { pageQuery, readPage } from '../http/schemas.ts'
import type { Ledger } from './ledger.ts'

export function creditRoutes(
  app: App,
  { ledger, authenticate }: { ledger: Ledger; authenticate: Authenticate },
): void {
  app.get('/v1/organization/:organizationId/ledger', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.organizations],
      security: security.token,
      summary: 'All credits granted and spent, newest first',
      description: 'Needs BILLING_VIEW.',
      params: Type.Object({ organizationId: Type.String() }),
      querystring: pageQuery,
      response: { 200: pageSchema(ledgerRowSchema) },
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
