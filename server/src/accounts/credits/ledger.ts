import type { LedgerRow } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Acting, type Origin, recordEvent } from '../../base/events/events.ts'
import { invalidInput, notFound } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { lockOrganizations, readMembers } from '../access/membership-store.ts'
import { readKeyOwners, readPartyNames } from '../keys/party-name-store.ts'
import { noteLowCredits } from './credit-levels.ts'
import { addLedgerRow, type LedgerFilter, lockBalance, readLedger } from './ledger-store.ts'

/** Far above any real balance, and far below the largest exact integer (2^53). */
export const MAX_CREDITS = 1_000_000_000_000

/** Every credit or debit is a ledger row, and the balance is that of the last row: both change together. */
export class Ledger {
  readonly #database: ControlDatabase
  readonly #clock: Clock

  readonly #administrators: ReadonlySet<string>

  constructor(database: ControlDatabase, clock: Clock, administrators: readonly string[] = []) {
    this.#database = database
    this.#clock = clock
    this.#administrators = new Set(administrators)
  }

  /** Adds to the balance, and returns the new balance. */
  grantCredits(origin: Origin, organizationId: string, amount: number): Promise<number> {
    return this.#database.db.transaction().execute((tx) => this.grantIn(tx, origin, organizationId, amount))
  }

  /** The same, in a transaction of the caller. */
  grantIn(tx: Tx, origin: Origin, organizationId: string, amount: number): Promise<number> {
    requireCredits('/add', amount, 1)
    return this.#change(tx, origin, organizationId, 'grant', (balance) => {
      if (balance + amount > MAX_CREDITS) {
        throw invalidInput('/add', `must not bring the balance past ${MAX_CREDITS}`)
      }
      return balance + amount
    })
  }

  /** Sets the balance, whatever it was, and returns it. */
  setCredits(origin: Origin, organizationId: string, balance: number): Promise<number> {
    requireCredits('/set', balance, 0)
    return this.#database.db
      .transaction()
      .execute((tx) => this.#change(tx, origin, organizationId, 'correction', () => balance))
  }

  /** For members with BILLING_VIEW. */
  async list(caller: Acting, organizationId: string, filter: LedgerFilter): Promise<LedgerRow[]> {
    await requireMember(this.#database.db, caller, organizationId, 'BILLING_VIEW')
    const members = new Set((await readMembers(this.#database.db, organizationId)).map(({ email }) => email))
    const rows = await this.forOperator(organizationId, filter)
    // Members need not know which of the operator's people granted credits.
    return rows.map((row) =>
      row.member !== null && this.#administrators.has(row.member) && !members.has(row.member)
        ? { ...row, member: null }
        : row,
    )
  }

  /** The rows that match, with the names of keys and users. */
  async forOperator(organizationId: string, filter: LedgerFilter): Promise<LedgerRow[]> {
    const { db } = this.#database
    const rows = await readLedger(db, organizationId, filter)
    const names = await readPartyNames(
      db,
      rows.flatMap(({ actor, keyId }) => [actor, keyId && `key:${keyId}`]),
    )
    const owners = await readKeyOwners(
      db,
      rows.map(({ keyId }) => keyId),
    )
    return rows.map((row) => ({
      ...row,
      keyName: row.keyId === null ? null : (names.get(`key:${row.keyId}`) ?? null),
      member: this.#shownMember(row, memberOf(row, names, owners)),
    }))
  }

  /** The first credits of an organization have the user who created it as actor, but they are the operator's. */
  #shownMember({ kind }: { kind: LedgerRow['kind'] }, member: string | null): string | null {
    const isGiven = kind === 'grant' || kind === 'correction'
    return isGiven && member !== null && !this.#administrators.has(member) ? null : member
  }

  async #change(
    tx: Tx,
    origin: Origin,
    organizationId: string,
    kind: 'grant' | 'correction',
    next: (balance: number) => number,
  ): Promise<number> {
    const open = await lockOrganizations(this.#database, tx, [organizationId])
    const before = open.has(organizationId)
      ? await lockBalance(this.#database, tx, organizationId)
      : undefined
    if (before === undefined) throw notFound('such organization')
    const balance = next(before)
    if (balance !== before) await this.#write(tx, origin, organizationId, kind, before, balance)
    return balance
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
      actor: origin.actor,
    })
    await recordEvent(tx, now, origin, {
      action: kind === 'grant' ? 'credits.granted' : 'credits.corrected',
      organizationId,
      subject: `organization:${organizationId}`,
      detail: { amount, balance },
    })
    if (balance < before) await noteLowCredits(tx, now, { organizationId, before, balance })
  }
}

function requireCredits(path: string, credits: number, min: number): void {
  if (!Number.isSafeInteger(credits) || credits < min || credits > MAX_CREDITS) {
    throw invalidInput(path, `must be a whole number from ${min} to ${MAX_CREDITS}`)
  }
}

function memberOf(
  { actor, keyId }: { actor: string | null; keyId: string | null },
  names: ReadonlyMap<string, string>,
  owners: ReadonlyMap<string, string>,
): string | null {
  if (actor?.startsWith('user:')) return names.get(actor) ?? null
  return (keyId !== null && owners.get(keyId)) || null
}
