import type { Tx } from '../../base/database/open.ts'
import { recordEvent, system } from '../../base/events/events.ts'
import { readCreditLevel, setCreditLevel } from './credit-level-store.ts'

export interface BalanceChange {
  organizationId: string
  before: number
  balance: number
}

/** For the transaction of a debit: records that the balance fell below the organization's limit, or to 0. */
export async function noteLowCredits(
  tx: Tx,
  at: Date,
  { organizationId, before, balance }: BalanceChange,
): Promise<void> {
  const { lowLimit } = await readCreditLevel(tx, organizationId)
  if (lowLimit !== null && before >= lowLimit && balance < lowLimit) {
    await recordEvent(tx, at, system, {
      action: 'credits.low',
      organizationId,
      subject: `organization:${organizationId}`,
      detail: { balance, limit: lowLimit },
    })
  }
  if (balance === 0) await noteExhausted(tx, at, organizationId, balance)
}

/** Recorded once until credits are added: a client may repeat a refused download for hours. */
export async function noteExhausted(
  tx: Tx,
  at: Date,
  organizationId: string,
  balance: number,
): Promise<void> {
  const { exhaustedAt } = await readCreditLevel(tx, organizationId)
  if (exhaustedAt !== null) return
  await setCreditLevel(tx, organizationId, { exhausted_at: at.toISOString() })
  await recordEvent(tx, at, system, {
    action: 'credits.exhausted',
    organizationId,
    subject: `organization:${organizationId}`,
    detail: { balance },
  })
}
