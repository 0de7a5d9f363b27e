import type { LedgerRow } from '@wayleave/contract/records'
import { requireMember } from '../access/membership.ts'
import type { Clock } from '../clock.ts'
import type { ControlDatabase, Tx } from '../database/open.ts'
import { type Origin, recordEvent } from '../events/events.ts'
import { isId } from '../id.ts'
import { invalidInput, notFound } from '../problem.ts'
import { addLedgerRow, lockBalance, readLedger } from './ledger-store.ts'

/** Far above any real balance, and far below the largest exact integer (2^53). */
export const MAX_CREDITS = 1_000_000_000_000

/** Every credit or debit is a ledger row, and the balance is that of the last row: both change together. */
export class Ledger {
  readonly #database: ControlDatabase
  readonly #clock: Clock

  constructor(database: ControlDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Adds to the balance, and returns the new balance. */
  grantCredits(origin: Origin, organizationId: string, amount: number): Promise<number> {
    requireCredits('/add', amount, 1)
    return this.#change(origin, organizationId, 'grant', (balance) => {
      if (balance + amount > MAX_CREDITS) {
        throw invalidInput('/add', `must not bring the balance past ${MAX_CREDITS}`)
      }
      return balance + amount
    })
  }

  /** Sets the balance, whatever it was, and returns it. */
  setCredits(origin: Origin, organizationId: string, balance: number): Promise<number> {
    requireCredits('/set', balance, 0)
    return this.#change(origin, organizationId, 'correction', () => balance)
  }

  async list(
    userId: string,
    organizationId: string,
    page: { before?: number; limit: number },
  ): Promise<LedgerRow[]> {
    await requireMember(this.#database.db, userId, organizationId, 'BILLING_VIEW')
    return readLedger(this.#database.db, organizationId, page)
  }

  #change(
    origin: Origin,
    organizationId: string,
    kind: 'grant' | 'correction',
    next: (balance: number) => number,
  ): Promise<number> {
    return this.#database.db.transaction().execute(async (tx) => {
      const present = isId('org', organizationId)
        ? await lockBalance(this.#database, tx, organizationId)
        : undefined
      if (present === undefined) throw notFound('such organization')
      const balance = next(present)
      if (balance !== present) await this.#write(tx, origin, organizationId, kind, present, balance)
      return balance
    })
  }

  async #write(
    tx: Tx,
    origin: Origin,
    organizationId: string,
    kind: 'grant' | 'correction',
    before: number,
    balance: number,
  ): Promise<void> {
    const now = this.#clock()
    const amount = balance - before
    await addLedgerRow(tx, {
      organization_id: organizationId,
      at: now.toISOString(),
      amount,
      balance,
      kind,
      key_id: null,
      table_name: null,
      version: null,
      format: null,
      actor: origin.actor,
      refunds: null,
    })
    await recordEvent(tx, now, origin, {
      action: kind === 'grant' ? 'credits.granted' : 'credits.corrected',
      organizationId,
      subject: `organization:${organizationId}`,
      detail: { amount, balance },
    })
  }
}

function requireCredits(path: string, credits: number, least: number): void {
  if (!Number.isSafeInteger(credits) || credits < least || credits > MAX_CREDITS) {
    throw invalidInput(path, `must be a whole number from ${least} to ${MAX_CREDITS}`)
  }
}
