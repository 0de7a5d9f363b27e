import type { Logger } from 'pino'
import type { Db } from '../../base/database/open.ts'
import { type BillingNotice, billingMail } from '../../base/mail/billing-mail-texts.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { nameInMail } from '../../base/mail/mail-texts.ts'
import { readMembers } from '../access/membership-store.ts'
import type { BudgetNotice } from '../credits/cashier.ts'
import { findKey } from '../keys/store.ts'
import { moneyText } from './money.ts'
import type { Booking } from './order-books.ts'
import type { OrderRow } from './order-store.ts'

export interface BillingMailsOptions {
  db: Db
  mailer: Mailer
  log: Logger
  baseUrl: () => string
  /** The operator's mail addresses. */
  operators: readonly string[]
}

/** Mails about orders, plans and credits: to the members who may buy, and alerts to the operator. */
export class BillingMails {
  readonly #options: BillingMailsOptions

  constructor(options: BillingMailsOptions) {
    this.#options = options
  }

  async about(order: OrderRow, outcome: NonNullable<Booking['outcome']>): Promise<void> {
    const { mailer, baseUrl, operators } = this.#options
    const facts = {
      orderId: order.id,
      amount: moneyText(order.amount, order.currency),
      credits: order.credits,
    }
    if (outcome === 'held' || outcome === 'disputed') {
      const notice = { kind: 'alert', ...facts, reason: order.reason } as const
      for (const to of operators) mailer.post(billingMail(to, `${baseUrl()}/administration/orders`, notice))
    }
    if (outcome !== 'held') await this.tell(order.organization_id, { kind: outcome, ...facts })
  }

  /** A key has used most of its budget. Never throws: the download goes on. */
  async aboutBudget({ organizationId, keyId, percent }: BudgetNotice): Promise<void> {
    const { db, log } = this.#options
    try {
      const key = await findKey(db, keyId)
      if (key) await this.tell(organizationId, { kind: 'budget', keyName: nameInMail(key.name), percent })
    } catch (error) {
      log.warn({ err: error }, 'The mail about the budget of a key could not be sent.')
    }
  }

  /** To the members with BILLING_MANAGE. */
  async tell(organizationId: string, notice: BillingNotice): Promise<void> {
    const { db, mailer, baseUrl } = this.#options
    for (const { email, permissions } of await readMembers(db, organizationId)) {
      if (permissions.includes('BILLING_MANAGE'))
        mailer.post(billingMail(email, `${baseUrl()}/organization/billing`, notice))
    }
  }
}
