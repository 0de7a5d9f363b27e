import type { AddOn } from '@wayleave/contract/add-ons'
import type { SubscriptionRecord } from '@wayleave/contract/records'
import { type Clock, DAY, plus } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import { type ControlDatabase, type Db, isUniqueViolation } from '../../base/database/open.ts'
import { type Acting, recordEvent, system, type UserOrigin } from '../../base/events/events.ts'
import { queueBillingNotice } from '../../base/events/notice-outbox-store.ts'
import { newId } from '../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { lockOrganizations } from '../access/membership-store.ts'
import type { ControlChange } from '../organizations/organizations.ts'
import { tellAbout } from './billing-mails.ts'
import { cancelOpen } from './order-books.ts'
import { findOrderByReference, lockOrder, type OrderRow } from './order-store.ts'
import type { Orders } from './orders.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { endPlan, periodEnd } from './plan-periods.ts'
import { findRevision } from './product-store.ts'
import { requireProduct } from './products.ts'
import {
  findCurrentSubscription,
  findSubscription,
  lockSubscription,
  readDueSubscriptions,
  readPlansToTell,
  type SubscriptionRow,
  setPlanChecked,
  setPlanTold,
  updateSubscription,
} from './subscription-store.ts'

export interface PlansOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  orders: Orders
  providers: readonly PaymentProvider[]
  graceDays: number
}

/** How many plans one round of renewals handles. */
const ROUND = 200

/** The plans of organizations: one each, renewed until it is cancelled. */
export class Plans {
  readonly #options: PlansOptions

  constructor(options: PlansOptions) {
    this.#options = options
  }

  /** Needs BILLING_VIEW. 404 without a plan. */
  async find(caller: Acting, organizationId: string): Promise<SubscriptionRecord> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    const row = await findCurrentSubscription(db, organizationId)
    if (!row) throw notFound('plan of this organization')
    return recordOf(db, row)
  }

  /** The plan ends with its period. Idempotent. */
  cancel(caller: UserOrigin, organizationId: string): Promise<SubscriptionRecord> {
    return this.#alter(caller, organizationId, 'plan.cancelled', async (row) => {
      if (row.reference !== null) await this.#providerOf(row)?.cancelPlan(row.reference, 'at-end')
      return { cancels_at_end: 1, next_product_id: null }
    })
  }

  /** Another plan follows at the end of the period. */
  change(caller: UserOrigin, organizationId: string, productId: string): Promise<SubscriptionRecord> {
    return this.#alter(caller, organizationId, 'plan.changed', async (row) => {
      const product = await requireProduct(this.#options.database.db, productId)
      if (product.kind !== 'plan') throw invalidInput('/productId', 'must be a plan')
      if (product.retiredAt !== null) throw new Problem('conflict', 'The plan is not sold any more.')
      if (row.reference !== null) {
        throw new Problem(
          'conflict',
          'The payment provider renews this plan. Cancel it, and buy the other one when it has ended.',
        )
      }
      return { cancels_at_end: 0, next_product_id: product.id === row.product_id ? null : product.id }
    })
  }

  async #alter(
    caller: UserOrigin,
    organizationId: string,
    action: string,
    decide: (row: SubscriptionRow) => Promise<Partial<SubscriptionRow>>,
  ): Promise<SubscriptionRecord> {
    const { database, clock } = this.#options
    const { db } = database
    await requireMember(db, caller, organizationId, 'BILLING_MANAGE')
    const current = await findCurrentSubscription(db, organizationId)
    if (!current) throw notFound('plan of this organization')
    const values = await decide(current)
    await db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, current.id)
      if (!row || row.state === 'ended') throw new Problem('conflict', 'The plan has ended meanwhile.')
      await updateSubscription(tx, row.id, values)
      await recordEvent(tx, clock(), caller.origin, {
        action,
        organizationId,
        subject: `subscription:${row.id}`,
        detail: { productId: values.next_product_id ?? row.product_id, periodEnd: row.period_end },
      })
    })
    return this.find(caller, organizationId).catch(() => recordOf(db, { ...current, ...values }))
  }

  /** Renews the plans whose period has ended, and ends those that were cancelled or not paid. */
  async renewDue(): Promise<void> {
    const { database, clock } = this.#options
    for (const row of await readDueSubscriptions(database.db, clock().toISOString(), ROUND)) {
      // The provider tells when it has renewed a plan; it gets the days of grace for that.
      if (row.reference === null || row.cancels_at_end === 1 || row.state === 'past-due')
        await this.#renew(row.id)
      else await this.setPastDue(row.id)
    }
  }

  /** The payment for the next period is missing: the plan goes on for the days of grace. */
  async setPastDue(id: string): Promise<void> {
    const { database, clock, graceDays } = this.#options
    await database.db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, id)
      if (row?.state !== 'active') return
      await updateSubscription(tx, id, {
        state: 'past-due',
        grace_until: plus(clock(), graceDays * DAY).toISOString(),
      })
    })
  }

  /** Ends a plan now, as the provider says. */
  async endNow(id: string): Promise<void> {
    await this.#end(id, 'cancelled')
  }

  /** Stores the order of a period that the provider has renewed, under the provider's own reference. */
  async openRenewal(id: string, reference: string): Promise<void> {
    const { database, changes, clock, orders } = this.#options
    await changes.commit(async (tx, changed) => {
      const change = { database, tx, changed, at: clock() }
      const unlocked = await findSubscription(tx, id)
      if (!unlocked) throw notFound('such plan')
      await lockOrganizations(database, tx, [unlocked.organization_id])
      const row = (await lockSubscription(database, tx, id))!
      await orders.openIn(change, system, { ...(await renewalOrder(change, row)), reference }, false)
    })
  }

  async #renew(id: string): Promise<void> {
    const { database, changes, clock, orders } = this.#options
    const renewed = await changes
      .commit(async (tx, changed) => {
        const change = { database, tx, changed, at: clock() }
        const row = await this.#lockDue(change, id)
        if (!row) return null
        if (row.cancels_at_end === 1 || row.state === 'past-due') return { row, isEnding: true }
        const order = await renewalOrder(change, row)
        const isPaid = row.provider === 'demo'
        const booking = await orders.openIn(change, system, order, isPaid)
        if (!isPaid) {
          const grace_until = plus(change.at, this.#options.graceDays * DAY).toISOString()
          await updateSubscription(tx, id, { state: 'past-due', grace_until })
        }
        await tellAbout(tx, change.at, booking.order, isPaid ? 'paid' : 'renewal')
        return { row, isEnding: false }
      })
      .catch((error: unknown) => {
        // Another node has renewed it.
        if (isUniqueViolation(error)) return null
        throw error
      })
    if (renewed?.isEnding) await this.#end(id, renewed.row.cancels_at_end === 1 ? 'cancelled' : 'unpaid')
  }

  async #lockDue(change: ControlChange, id: string): Promise<SubscriptionRow | undefined> {
    const { database, tx, at } = change
    const unlocked = await findSubscription(tx, id)
    if (!unlocked) return undefined
    const open = await lockOrganizations(database, tx, [unlocked.organization_id])
    const row = await lockSubscription(database, tx, id)
    if (!row || row.state === 'ended') return undefined
    // Nobody is left who could use it.
    if (open.size === 0) {
      await endPlan(change, system, row, 'closed')
      return undefined
    }
    const dueAt = row.state === 'past-due' ? row.grace_until : row.period_end
    return dueAt !== null && dueAt <= at.toISOString() ? row : undefined
  }

  async #end(id: string, reason: 'cancelled' | 'unpaid'): Promise<void> {
    const { database, changes, clock } = this.#options
    await changes.commit(async (tx, changed) => {
      const change = { database, tx, changed, at: clock() }
      const unlocked = await findSubscription(tx, id)
      if (!unlocked) return
      await lockOrganizations(database, tx, [unlocked.organization_id])
      const row = await lockSubscription(database, tx, id)
      if (!row || row.state === 'ended') return
      await endPlan(change, system, row, reason)
      const renewal = await findOrderByReference(tx, row.provider, 'reference', renewalReference(row))
      const order = renewal && (await lockOrder(database, tx, renewal.id))
      if (order) await cancelOpen(change, system, order, 'The plan has ended.')
      await queueBillingNotice(tx, change.at, row.organization_id, { kind: 'plan-ended' })
    })
  }

  /** Tells providers about plans that have ended or were upgraded here. What fails now is told later. */
  async tellProviders(): Promise<void> {
    const { database, clock } = this.#options
    const { db } = database
    for (const row of await readPlansToTell(db, ROUND)) {
      await setPlanChecked(db, row.id, clock().toISOString())
      const provider = this.#providerOf(row)
      if (row.to_cancel === 1) await provider?.cancelPlan(row.reference!, 'now')
      else {
        const {
          id: productId,
          revision,
          name,
          price,
          currency,
          period,
        } = await findRevision(db, row.product_id, row.revision)
        const plan = { productId, revision, name, price, currency, period: period! }
        await provider?.repricePlan(row.reference!, plan)
      }
      await setPlanTold(db, row)
    }
  }

  /** The plan was cancelled, or its cancellation withdrawn, at the provider. */
  async setCancelsAtEnd(id: string, cancelsAtEnd: boolean): Promise<void> {
    const { database, clock } = this.#options
    await database.db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, id)
      if (!row || row.state === 'ended' || (row.cancels_at_end === 1) === cancelsAtEnd) return
      await updateSubscription(tx, id, { cancels_at_end: cancelsAtEnd ? 1 : 0 })
      await recordEvent(tx, clock(), system, {
        action: cancelsAtEnd ? 'plan.cancelled' : 'plan.changed',
        organizationId: row.organization_id,
        subject: `subscription:${id}`,
        detail: { productId: row.product_id, periodEnd: row.period_end },
      })
    })
  }

  #providerOf({ provider }: SubscriptionRow): PaymentProvider | undefined {
    return this.#options.providers.find(({ name }) => name === provider)
  }
}

/** One order for each period: the unique index on it lets one node renew. */
function renewalReference({ id, periods, period_end }: SubscriptionRow): string {
  return `${id}:${periods + 1}:${period_end}`
}

async function renewalOrder({ tx, at }: ControlChange, row: SubscriptionRow): Promise<OrderRow> {
  const next =
    row.next_product_id === null
      ? await findRevision(tx, row.product_id, row.revision)
      : await requireProduct(tx, row.next_product_id)
  const current = await findRevision(tx, row.product_id, row.revision)
  const isSamePeriod = next.period === current.period
  const end = isSamePeriod
    ? periodEnd(new Date(row.anchor), next.period!, row.periods + 1)
    : periodEnd(new Date(row.period_end), next.period!, 1)
  return {
    id: newId('ord'),
    organization_id: row.organization_id,
    product_id: next.id,
    revision: next.revision,
    quantity: 1,
    amount: next.price,
    currency: next.currency,
    credits: next.credits,
    provider: row.provider,
    reference: renewalReference(row),
    payment_reference: null,
    url: null,
    state: 'open',
    reason: '',
    refunded_amount: 0,
    withdrawn_credits: 0,
    subscription_id: row.id,
    period_start: row.period_end,
    period_end: end.toISOString(),
    reminders: 0,
    created_by: system.actor,
    created_at: at.toISOString(),
    paid_at: null,
    upgrades_from: null,
  }
}

async function recordOf(db: Db, row: SubscriptionRow): Promise<SubscriptionRecord> {
  const product = await findRevision(db, row.product_id, row.revision)
  return {
    id: row.id,
    state: row.state,
    provider: row.provider,
    productId: row.product_id,
    productName: product.name,
    credits: product.credits,
    addOns: product.addOns as AddOn[],
    limits: product.limits,
    amount: product.price,
    currency: product.currency,
    period: product.period!,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    cancelsAtEnd: row.cancels_at_end === 1,
    nextProductId: row.next_product_id,
    graceUntil: row.grace_until,
  }
}
