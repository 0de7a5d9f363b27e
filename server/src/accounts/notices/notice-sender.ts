import type { Notice } from '@wayleave/contract/webhook-events'
import type { Logger } from 'pino'
import { type Clock, DAY, MINUTE, SECOND } from '../../base/clock.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase, Db } from '../../base/database/open.ts'
import type { BillingNotice } from '../../base/events/notice-outbox-store.ts'
import { datasetAudience } from '../../base/events/webhook-outbox-store.ts'
import { billingMail } from '../../base/mail/billing-mail-texts.ts'
import type { Mail, Mailer } from '../../base/mail/mail.ts'
import { accessRequestMail } from '../../base/mail/mail-texts.ts'
import {
  datasetVersionMail,
  keyExpiringMail,
  lowCreditsMail,
  type NoticeAddress,
  webhookPausedMail,
} from '../../base/mail/notice-texts.ts'
import { listRequests } from '../access-requests/access-request-store.ts'
import { findKey } from '../keys/store.ts'
import { findOrganization } from '../organizations/store.ts'
import {
  addNotice,
  claimNotice,
  deleteNotice,
  findDatasetTitle,
  findUserAddress,
  readBuyers,
  readMemberAddresses,
  readPermittedAddresses,
  readSwitchedOff,
  type StoredNotice,
  setMark,
  setNoticeDetail,
} from './notice-store.ts'
import type { Notices } from './notices.ts'

const POLL = SECOND
/** A notice whose mail failed is tried again after this time. */
const LEASE = 5 * MINUTE
/** Later it is of no use. */
const MAX_AGE = 2 * DAY

export interface NoticeSenderDeps {
  database: ControlDatabase
  clock: Clock
  log: Logger
  mailer: Mailer
  notices: Notices
  baseUrl: () => string
  operators: readonly string[]
}

/** What an audit event said, and who has got the mail already. */
interface Detail extends Record<string, unknown> {
  subject: string
  sent?: string[]
}

interface Recipients {
  emails: readonly string[]
  mail: (to: string) => Mail
}

/** Mails about billing cannot be switched off. */
type StoredKind = Notice | 'billing'

/** Sends the notices of the outbox by mail, one after the other. */
export class NoticeSender {
  readonly #deps: NoticeSenderDeps
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isClosing = false

  constructor(deps: NoticeSenderDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#timer = setInterval(() => this.poll(), POLL).unref()
  }

  poll(): void {
    if (this.#isClosing) return
    this.#running ??= this.#sendAll()
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseError)) this.#deps.log.warn({ err: error }, 'A notice was not sent.')
      })
      .finally(() => {
        this.#running = null
      })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#running
  }

  async #sendAll(): Promise<void> {
    const { database } = this.#deps
    while (!this.#isClosing) {
      const notice = await claimNotice(database, LEASE)
      if (notice === null) return
      if (await this.#send(notice)) await deleteNotice(database.db, notice.id)
    }
  }

  /** Returns whether it is done with; if not, it is tried again. */
  async #send(row: StoredNotice): Promise<boolean> {
    const { database, clock, log, mailer } = this.#deps
    if (clock().getTime() - Date.parse(row.created_at) > MAX_AGE) return true
    const notice = row.notice as StoredKind
    const detail = JSON.parse(row.detail) as Detail
    if (notice === 'dataset-version' && row.organization_id === null) {
      await this.#tellBuyers(row, detail)
      return true
    }
    const recipients =
      notice === 'billing'
        ? await this.#billing(row.organization_id!, detail as unknown as BillingNotice)
        : await this.#recipients(notice, row.organization_id, detail)
    const sent = [...(detail.sent ?? [])]
    for (const to of recipients?.emails ?? []) {
      if (sent.includes(to) || (await readSwitchedOff(database.db, to)).has(notice)) continue
      try {
        await mailer.deliver(recipients!.mail(to))
      } catch (error) {
        const { code, responseCode } = error as { code?: string; responseCode?: number }
        log.warn({ smtp: { code, responseCode } }, 'A notice could not be sent; it is tried again.')
        // An address that the mail server refuses for good must not keep others from their mail.
        if (responseCode === undefined || responseCode < 500) return false
      }
      sent.push(to)
      await setNoticeDetail(database.db, row.id, { ...detail, sent })
    }
    return true
  }

  /** One notice for each organization that has bought the dataset and may know of it; one a day. */
  async #tellBuyers({ created_at }: StoredNotice, detail: Detail): Promise<void> {
    const { database, clock } = this.#deps
    const table = nameIn(detail.subject)
    await database.db.transaction().execute(async (tx) => {
      const audience = await datasetAudience(tx, table, clock())
      for (const buyer of await readBuyers(tx, table)) {
        if (audience !== 'everyone' && !audience.includes(buyer)) continue
        const mark = `dataset-version:${table}:${buyer}:${created_at.slice(0, 10)}`
        if (await setMark(tx, mark, created_at)) {
          await addNotice(tx, 'dataset-version', buyer, detail, created_at)
        }
      }
    })
  }

  /** Members who may buy are told also while their organization is suspended. */
  async #billing(organizationId: string, notice: BillingNotice): Promise<Recipients> {
    const { database, operators, baseUrl } = this.#deps
    const { db } = database
    if (notice.kind === 'alert') {
      const link = `${baseUrl()}/administration/orders`
      return { emails: operators, mail: (to) => billingMail(to, link, notice) }
    }
    const link = `${baseUrl()}/organization/billing`
    const holder = await holderOf(db, notice)
    return {
      emails: await readPermittedAddresses(db, organizationId, 'BILLING_MANAGE'),
      mail: (to) => billingMail(to, link, notice, holder),
    }
  }

  /** Null if what the notice is about does not exist any more. */
  async #recipients(
    notice: Notice,
    organizationId: string | null,
    detail: Detail,
  ): Promise<Recipients | null> {
    const { database, operators, baseUrl, notices } = this.#deps
    const { db } = database
    const address = (to: string): NoticeAddress => ({
      to,
      unsubscribe: notices.unsubscribeLinks(to, notice),
    })
    const members = async (permission: Parameters<typeof readMemberAddresses>[2]) =>
      organizationId === null ? operators : readMemberAddresses(db, organizationId, permission)
    switch (notice) {
      case 'key-expiring': {
        const key = await findKey(db, nameIn(detail.subject))
        if (!key || key.revoked_at !== null || key.expires_at !== detail['expiresAt']) return null
        const emails =
          key.scope === 'user' ? await findUserAddress(db, key.user_id!) : await members('APIKEY_CREATE')
        const link = `${baseUrl()}${key.scope === 'platform' ? '/administration/keys' : '/keys'}`
        const facts = { name: key.name, days: detail['days'] as number, expiresAt: key.expires_at! }
        return { emails, mail: (to) => keyExpiringMail(address(to), link, facts) }
      }
      case 'credits-low': {
        const organization = organizationId === null ? undefined : await findOrganization(db, organizationId)
        if (!organization) return null
        const facts = {
          organization: organization.name,
          balance: detail['balance'] as number,
          limit: (detail['limit'] as number | undefined) ?? null,
        }
        const link = `${baseUrl()}/organization/credits`
        return {
          emails: await members('BILLING_VIEW'),
          mail: (to) => lowCreditsMail(address(to), link, facts),
        }
      }
      case 'dataset-version': {
        const table = nameIn(detail.subject)
        const title = await findDatasetTitle(db, table)
        if (title === null) return null
        const facts = { title, version: detail['version'] as number }
        const link = `${baseUrl()}/datasets/${table}`
        return { emails: await members(null), mail: (to) => datasetVersionMail(address(to), link, facts) }
      }
      case 'webhook-paused': {
        const facts = { host: String(detail['host']), reason: String(detail['reason']) }
        const link = `${baseUrl()}${organizationId === null ? '/administration' : '/organization'}/webhooks`
        return {
          emails: await members('MEMBER_MANAGE'),
          mail: (to) => webhookPausedMail(address(to), link, facts),
        }
      }
      case 'access-requested': {
        const [request] = await listRequests(db, { id: String(detail['requestId']), limit: 1 })
        if (!request) return null
        const link = `${baseUrl()}/administration/requests`
        return {
          emails: operators,
          mail: (to) => ({ ...accessRequestMail(to, link, request), ...address(to) }),
        }
      }
    }
  }
}

/** The name of the key, or the address of the member, whose budget a notice is about. */
async function holderOf(db: Db, notice: BillingNotice): Promise<string> {
  if (notice.kind === 'key-budget') return (await findKey(db, notice.keyId))?.name ?? notice.keyId
  if (notice.kind === 'member-budget') return (await findUserAddress(db, notice.userId))[0] ?? notice.userId
  return ''
}

/** Of `key:<id>` or `dataset:<table>`. */
function nameIn(subject: string): string {
  return subject.slice(subject.indexOf(':') + 1)
}
