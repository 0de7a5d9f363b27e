import type { PurchaseRecord } from '@wayleave/contract/records'
import { type Clock, DAY, plus } from '../../base/clock.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { Problem } from '../../base/problem.ts'
import type { Grant } from '../access/grant.ts'
import type { Call, Meter } from '../usage/meter.ts'
import { addUsage, type UsageRow } from '../usage/usage-store.ts'
import { addMemberSpending } from './budget-store.ts'
import { budgetProblem, noteBudgets, readBudgets } from './budgets.ts'
import { noteExhausted, noteLowCredits } from './credit-levels.ts'
import { addLedgerRow, hasPaidFor, lockBalance, type NewLedgerRow } from './ledger-store.ts'
import {
  endPurchase,
  hasPurchase,
  type Purchase,
  readBalance,
  readPurchases,
  recordPurchase,
} from './purchase-store.ts'

/** How long a purchase can be downloaded again without paying. */
const REDOWNLOAD_PERIOD = DAY

/** What a request was charged. */
export interface Charge {
  charged: number
  /** The organization's remaining balance; null for a platform key, which pays nothing. */
  remaining: number | null
  /** Refunds the credits, once; does nothing if none were charged. */
  refund: () => Promise<void>
}

export interface Bill {
  grant: Grant
  call: Call
  version: number
  price: number
  /** The most that the caller wants to pay; undefined for any price. */
  maxPrice?: number | undefined
  /** Names what was bought, so that it can be downloaded again; without it, the format. */
  item?: string
  /** A purchase of the whole version in any format includes it. */
  isPartOfVersion?: true
  /** The call itself was counted already. */
  isMetered?: true
}

/** What a charge has written. */
interface Debit {
  ledgerId: number
  balance: number
  usage: UsageRow
}

/**
 * Charges credits before the first byte is sent, in one transaction with the ledger row that explains them,
 * the right to download the same again for a day, and the usage. A caller that fails to deliver must refund.
 */
export class Cashier {
  /** Number of refunds written, and of refunds that could not be written. */
  readonly refunds = { written: 0, failed: 0 }
  /** Credits that this node has taken and given back. */
  readonly credits = { charged: 0, refunded: 0 }
  readonly #database: ControlDatabase
  readonly #meter: Meter
  readonly #clock: Clock
  readonly #deliveries = new Set<Promise<void>>()

  constructor(database: ControlDatabase, meter: Meter, clock: Clock) {
    this.#database = database
    this.#meter = meter
    this.#clock = clock
  }

  async charge(bill: Bill): Promise<Charge> {
    const { grant, price } = bill
    const organizationId = grant.organizationId
    if (grant.scope === 'platform' || organizationId === null) {
      this.#count(bill)
      return { charged: 0, remaining: null, refund: async () => {} }
    }
    const purchase = purchaseOf(bill)
    const free = async (): Promise<Charge> => {
      this.#count(bill)
      return {
        charged: 0,
        remaining: await readBalance(this.#database.db, organizationId),
        refund: async () => {},
      }
    }
    if (price === 0 || (await hasPurchase(this.#database.db, purchase, this.#rightSince()))) return free()
    const tooDear = priceProblem(bill)
    if (tooDear) throw tooDear
    const paid = await this.#database.db
      .transaction()
      .execute((tx) => this.#debit(tx, organizationId, bill, purchase))
    if (paid instanceof Problem) throw paid
    if (paid === null) return free()
    this.credits.charged += price
    return {
      charged: price,
      remaining: paid.balance,
      refund: () => this.#countRefund(this.#refund(organizationId, bill, paid), price),
    }
  }

  /**
   * Returns the reason why `charge` would refuse now, or null. For work done before it is known whether it
   * costs anything.
   */
  async refusalOf(bill: Bill): Promise<Problem | null> {
    const { scope, organizationId } = bill.grant
    if (scope === 'platform' || organizationId === null || bill.price === 0) return null
    const { db } = this.#database
    if (await hasPurchase(db, purchaseOf(bill), this.#rightSince())) return null
    const tooDear = priceProblem(bill)
    if (tooDear) return tooDear
    const balance = await readBalance(db, organizationId)
    if (balance < bill.price) return tooFewCredits(bill.price, balance)
    return budgetProblem(await readBudgets(db, bill.grant, monthOf(this.#clock())), bill.price)
  }

  /** What `charge` would take now. */
  async quote(bill: Bill): Promise<number> {
    const { scope, organizationId } = bill.grant
    if (scope === 'platform' || organizationId === null || bill.price === 0) return 0
    return (await hasPurchase(this.#database.db, purchaseOf(bill), this.#rightSince())) ? 0 : bill.price
  }

  /** What the payer has paid for and may download again without paying, newest first. */
  async purchasesOf({ payer }: Grant, table: string): Promise<PurchaseRecord[]> {
    const rows = await readPurchases(this.#database.db, payer, table, this.#rightSince())
    return rows.map((row) => ({
      ...row,
      freeUntil: plus(new Date(row.paidAt), REDOWNLOAD_PERIOD).toISOString(),
    }))
  }

  /** Whether the caller's organization has ever paid for a file of the version. */
  async hasBought({ organizationId }: Grant, version: { table: string; version: number }): Promise<boolean> {
    return organizationId !== null && hasPaidFor(this.#database.db, organizationId, version)
  }

  /** Tracks a delivery that may still end in a refund, so that a stop waits for it. */
  watch<T>(delivery: Promise<T>): Promise<T> {
    const settled = delivery.then(
      () => {},
      () => {},
    )
    this.#deliveries.add(settled)
    settled.then(() => this.#deliveries.delete(settled))
    return delivery
  }

  /** Waits until all deliveries under way have ended and all their refunds are in the ledger. */
  async close(): Promise<void> {
    while (this.#deliveries.size > 0) await Promise.all(this.#deliveries)
  }

  /**
   * Null if another request of the same payer has paid meanwhile: the balance's lock serializes them. A problem is
   * returned if there are too few credits, because the record of that is committed.
   */
  async #debit(
    tx: Tx,
    organizationId: string,
    bill: Bill,
    purchase: Purchase,
  ): Promise<Debit | Problem | null> {
    const { grant, call, price } = bill
    const before = await lockBalance(this.#database, tx, organizationId)
    if (before === undefined) throw new Problem('key-invalid')
    if (await hasPurchase(tx, purchase, this.#rightSince())) return null
    if (before < price) {
      await noteExhausted(tx, this.#clock(), organizationId, before)
      return tooFewCredits(price, before)
    }
    // The balance's lock makes sure that no other charge of the organization is under way.
    const now = this.#clock()
    const budgets = await readBudgets(tx, grant, monthOf(now))
    const refusal = budgetProblem(budgets, price)
    if (refusal) return refusal
    await noteBudgets(tx, now, grant, budgets, price)
    const at = now.toISOString()
    const balance = before - price
    const ledgerId = await addLedgerRow(tx, ledgerRow(organizationId, bill, at, -price, balance, null))
    await recordPurchase(tx, purchase, at, ledgerId)
    await noteLowCredits(tx, now, { organizationId, before, balance })
    const row = this.#meter.paidRow(grant, call, price)
    const usage = bill.isMetered ? { ...row, calls: 0 } : row
    await addUsage(tx, [usage])
    await this.#addSpending(tx, bill, usage, price)
    return { ledgerId, balance, usage }
  }

  async #countRefund(refund: Promise<void>, price: number): Promise<void> {
    await refund.catch((error: unknown) => {
      this.refunds.failed++
      throw error
    })
    this.refunds.written++
    this.credits.refunded += price
  }

  /** The unique index on `refunds` makes sure that each debit is refunded only once. */
  async #refund(organizationId: string, bill: Bill, { ledgerId, usage }: Debit): Promise<void> {
    const { price } = bill
    await this.#database.db.transaction().execute(async (tx) => {
      const before = await lockBalance(this.#database, tx, organizationId)
      if (before === undefined) return
      const row = ledgerRow(
        organizationId,
        bill,
        this.#clock().toISOString(),
        price,
        before + price,
        ledgerId,
      )
      await addLedgerRow(tx, row)
      await endPurchase(tx, ledgerId)
      // On the day of the download, so that no day has fewer credits than none.
      await addUsage(tx, [{ ...usage, calls: 0, credits: -price }])
      await this.#addSpending(tx, bill, usage, -price)
    })
  }

  #count({ grant, call, isMetered }: Bill): void {
    if (!isMetered) this.#meter.record(grant, call)
  }

  /** Counts what a member spends; keys of the organization belong to nobody. */
  async #addSpending(tx: Tx, { grant }: Bill, { date }: UsageRow, credits: number): Promise<void> {
    const { organizationId, userId } = grant
    if (organizationId === null || userId === null) return
    await addMemberSpending(tx, { organizationId, userId, month: date.slice(0, 7) }, credits)
  }

  #rightSince(): string {
    return plus(this.#clock(), -REDOWNLOAD_PERIOD).toISOString()
  }
}

function purchaseOf({ grant, call, version, item, isPartOfVersion }: Bill): Purchase {
  const format = item ?? call.format
  return { payer: grant.payer, table: call.table, version, format, isPartOfVersion: isPartOfVersion ?? false }
}

function monthOf(now: Date): string {
  return now.toISOString().slice(0, 7)
}

/** A price that was raised since the caller was told it is not charged. */
function priceProblem({ price, maxPrice }: Bill): Problem | null {
  if (maxPrice === undefined || price <= maxPrice) return null
  const detail = `The download costs ${price} credits now, more than the ${maxPrice} of \`Credits-Max\`.`
  return new Problem('price-higher', detail, { members: { price, maxPrice } })
}

function tooFewCredits(price: number, balance: number): Problem {
  return new Problem(
    'credits-exhausted',
    `The download costs ${price} credits, and the organization has ${balance} left.`,
    { members: { price, balance } },
  )
}

function ledgerRow(
  organizationId: string,
  { grant, call, version }: Bill,
  at: string,
  amount: number,
  balance: number,
  refunds: number | null,
): NewLedgerRow {
  return {
    organization_id: organizationId,
    at,
    amount,
    balance,
    kind: refunds === null ? 'download' : 'refund',
    // The keys of the console are deleted soon, so its downloads name their user only.
    key_id: grant.kind === 'session' ? null : grant.keyId,
    table_name: call.table,
    version,
    format: call.format,
    actor: actorOf(grant),
    refunds,
  }
}

/** A refund names the actor of the download that it reverses. */
function actorOf({ kind, userId, keyId }: Grant): string {
  return kind === 'session' ? `user:${userId}` : `key:${keyId}`
}
