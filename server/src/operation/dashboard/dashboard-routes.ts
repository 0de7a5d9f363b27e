import { dashboardSchema, emailSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { normalEmail } from '../../base/email.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { testMail } from '../../base/mail/mail-texts.ts'
import { invalidInput } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import type { Metrics } from '../../http/observability/metrics.ts'
import { security, tags } from '../../http/openapi.ts'
import { DashboardReports } from './dashboard.ts'

export interface DashboardRoutesDeps {
  database: ControlDatabase
  clock: Clock
  catalog: Catalog
  metrics: Metrics
  baseUrl: BaseUrl
  identity: { mailer: Mailer }
  config: { dataDir: string; smtpUrl: string | null }
  authenticate: Authenticate
}

const documented = { tags: [tags.administration], security: security.administrator }

/** The state of the service, and a test of its mail, for platform administrators. */
export function dashboardRoutes(app: App, parts: DashboardRoutesDeps): void {
  const { database, clock, catalog, metrics, baseUrl, identity, config, authenticate } = parts
  const onRequest = authenticate.administrator
  const reports = new DashboardReports({
    db: database.db,
    clock,
    catalog,
    metrics,
    dataDir: config.dataDir,
  })

  app.get('/v1/admin/dashboard', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Requests, errors, datasets, storage and jobs of the last 30 days',
      response: { 200: dashboardSchema },
    },
    handler: () => reports.read(),
  })

  app.post('/v1/admin/mail-test', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Send a mail to see whether mail works',
      description:
        'Tries once. `sent` is false if the mail server refused it or cannot be reached; `reason` has its code.',
      body: Type.Object({ email: emailSchema }, { additionalProperties: false }),
      response: {
        200: Type.Object({
          sent: Type.Boolean(),
          by: Type.Unsafe<'smtp' | 'outbox'>({ type: 'string', enum: ['smtp', 'outbox'] }),
          reason: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
        }),
      },
    },
    handler: async (request) => {
      const email = normalEmail(request.body.email)
      if (!email) throw invalidInput('/email', 'must be a mail address')
      const by = config.smtpUrl === null ? ('outbox' as const) : ('smtp' as const)
      try {
        await identity.mailer.deliver(testMail(email, `${baseUrl.settled()}/`))
        return { sent: true, by, reason: null }
      } catch (error) {
        request.log.warn({ err: error }, 'A test mail could not be sent.')
        return { sent: false, by, reason: reasonOf(error) }
      }
    },
  })
}

/** Codes only: the message of a mail server may quote the mail or the address of an inner host. */
function reasonOf(error: unknown): string {
  const { code, responseCode } = error as { code?: string; responseCode?: number }
  return [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown'
}
