import { randomBytes } from 'node:crypto'
import { Authenticate } from '../accounts/access/authenticate.ts'
import { Refusals } from '../accounts/access/refusals.ts'
import { Verifier } from '../accounts/access/verifier.ts'
import { AccessRequests } from '../accounts/access-requests/access-requests.ts'
import { type Billing, openBilling } from '../accounts/billing/billing.ts'
import { IdempotentRequests } from '../accounts/idempotency/idempotent-requests.ts'
import { type Identity, mailRate, openIdentity } from '../accounts/identity/identity.ts'
import { installationSecret } from '../accounts/identity/installation-secret-store.ts'
import { KeyCipher, usedSecret } from '../accounts/identity/key-cipher.ts'
import { NoticeSender } from '../accounts/notices/notice-sender.ts'
import { Notices } from '../accounts/notices/notices.ts'
import { Invitations } from '../accounts/organizations/invitations.ts'
import { KeyRequests } from '../accounts/request-log/key-requests.ts'
import { RequestLog } from '../accounts/request-log/request-log.ts'
import { Meter } from '../accounts/usage/meter.ts'
import { UsageReports } from '../accounts/usage/usage-reports.ts'
import { WebhookDispatcher } from '../accounts/webhooks/webhook-dispatcher.ts'
import { Webhooks } from '../accounts/webhooks/webhooks.ts'
import type { Mailer } from '../base/mail/mail.ts'
import type { Config } from '../base/settings/config.ts'
import { isFirst } from '../base/threads/thread-place.ts'
import { aboutOf } from '../http/about.ts'
import type { Closers } from './closers.ts'
import type { ControlPlane } from './control-plane.ts'
import type { BaseParts } from './open-base.ts'
import type { HttpParts } from './open-http.ts'
import type { Opening } from './opening.ts'

/** Who is asking, who pays, and what mails they get, beside the control plane. */
export interface AccountParts {
  refusals: Refusals
  meter: Meter
  authenticate: Authenticate
  idempotentRequests: IdempotentRequests
  identity: Identity
  invitations: Invitations
  accessRequests: AccessRequests
  usageReports: UsageReports
  webhooks: Webhooks
  webhookDispatcher: WebhookDispatcher
  notices: Notices
  noticeSender: NoticeSender
  /** Null if the settings say that no requests are recorded. */
  keyRequestLog: RequestLog | null
  keyRequests: KeyRequests
  billing: Billing
}

export type AccountsOpening = Opening & ControlPlane & Pick<BaseParts, 'limiter'> & Pick<HttpParts, 'baseUrl'>

export async function openAccounts(opening: AccountsOpening, opened: Closers): Promise<AccountParts> {
  const { config, log, clock, database, changes, limiter, starting, ledger, thread } = opening
  const serving = opening.serving && isFirst(thread)
  const baseUrl = () => opening.baseUrl.settled()
  const meter = opened.use(new Meter(database, clock, log))
  const refusals = new Refusals(database, clock)
  const identity = opened.use(
    await openIdentity({
      config,
      database,
      changes,
      clock,
      log,
      limiter,
      baseUrl,
      starting,
      serving,
      refusals,
    }),
  )
  const { mailer } = identity
  const rates = { mail: mailRate(config.signInRate), organization: mailRate(config.signInAddressRate) }
  return {
    refusals,
    meter,
    authenticate: authenticateBy(opening, identity, refusals, meter),
    idempotentRequests: new IdempotentRequests(database.db, clock),
    identity,
    invitations: new Invitations({ database, changes, clock, limiter, mailer, baseUrl, rates }),
    accessRequests: new AccessRequests({ database, changes, clock, ledger, mailer, baseUrl }),
    usageReports: new UsageReports(database.db, clock),
    ...(await openWebhooks(opening, opened)),
    keyRequestLog:
      opening.serving && config.requestLogDays > 0 ? opened.use(new RequestLog(database, clock, log)) : null,
    keyRequests: new KeyRequests(database.db),
    ...(await openNotices(opening, mailer, opened)),
    billing: openBilling({ config, database, changes, clock, baseUrl }),
  }
}

async function openNotices(
  { config, log, clock, serving, database, baseUrl: address, thread }: AccountsOpening,
  mailer: Mailer,
  opened: Closers,
): Promise<Pick<AccountParts, 'notices' | 'noticeSender'>> {
  const stored = await installationSecret(database.db, 'unsubscribe', () =>
    randomBytes(32).toString('base64url'),
  )
  const secret = usedSecret(stored, 'unsubscribe', config.secretKey)
  const deps = { database, clock, baseUrl: () => address.settled(), operators: operatorAddresses(config) }
  const notices = new Notices({ ...deps, secret })
  const noticeSender = opened.use(new NoticeSender({ ...deps, log, mailer, notices }))
  if (serving && isFirst(thread)) noticeSender.start()
  return { notices, noticeSender }
}

async function openWebhooks(
  { config, log, clock, serving, database, thread }: AccountsOpening,
  opened: Closers,
): Promise<Pick<AccountParts, 'webhooks' | 'webhookDispatcher'>> {
  const cipher = new KeyCipher(config.secretKey)
  const deps = { database, clock, log, cipher, allowInternal: config.allowInternalAddresses }
  const webhookDispatcher = opened.use(new WebhookDispatcher(deps))
  if (serving && isFirst(thread)) await webhookDispatcher.start()
  return { webhooks: new Webhooks(deps), webhookDispatcher }
}

/** By keys and by the access tokens of signed-in users. */
function authenticateBy(
  { config, database, changes, clock, limiter }: AccountsOpening,
  identity: Identity,
  refusals: Refusals,
  meter: Meter,
): Authenticate {
  const verifier = new Verifier({
    db: database.db,
    changes,
    clock,
    format: { literal: config.keyLiteral, env: config.keyEnv },
    rate: { requests: config.keyRate, burst: config.keyBurst! },
    ownerRate: { requests: config.ownerRate!, burst: config.ownerBurst! },
    administrators: new Set(config.admins),
  })
  return new Authenticate({
    verifier,
    verifyToken: (token) => identity.accessTokens.verify(token),
    administrators: new Set(config.admins),
    limiter,
    rates: {
      user: { requests: config.userRate, burst: config.userRate },
      address: { requests: config.addressRate, burst: config.addressRate },
      tile: { requests: config.tileRate, burst: config.tileRate },
      open: { requests: config.openRate, burst: config.openRate },
    },
    keyInUrl: config.keyInUrl,
    refusals,
    noteAdministration: (grant) =>
      meter.record(grant, { operation: 'administration', table: '', format: '' }),
  })
}

/** The administrators, and the contact if it is a mail address. */
function operatorAddresses(config: Config): string[] {
  const contact = aboutOf(config).contact?.email
  return [...new Set([...config.admins, ...(contact === undefined ? [] : [contact])])]
}
