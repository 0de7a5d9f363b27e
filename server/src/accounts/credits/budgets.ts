import type { Db, Tx } from '../../base/database/open.ts'
import { queueBillingNotice } from '../../base/events/notice-outbox-store.ts'
import { Problem } from '../../base/problem.ts'
import type { Grant } from '../access/grant.ts'
import { readKeySpending } from '../keys/key-spending-store.ts'
import { readMemberSpending } from './budget-store.ts'

/** A limit of the credits that a key, or a member with all personal keys and the console, spends in a month (UTC). */
interface Budget {
  holder: 'key' | 'member'
  limit: number
  used: number
}

/** The budgets that a charge of the grant counts against. */
export async function readBudgets(db: Db | Tx, grant: Grant, month: string): Promise<Budget[]> {
  const { creditLimit, memberCreditLimit, keyId, organizationId, userId } = grant
  const budgets: Budget[] = []
  if (creditLimit !== null) {
    const used = (await readKeySpending(db, [keyId], month)).get(keyId) ?? 0
    budgets.push({ holder: 'key', limit: creditLimit, used })
  }
  if (memberCreditLimit !== null && organizationId !== null && userId !== null) {
    const used = await readMemberSpending(db, { organizationId, userId, month })
    budgets.push({ holder: 'member', limit: memberCreditLimit, used })
  }
  return budgets
}

/** Why a budget does not allow the price; null if all do. */
export function budgetProblem(budgets: readonly Budget[], price: number): Problem | null {
  const exhausted = budgets.find(({ limit, used }) => used + price > limit)
  if (!exhausted) return null
  const { holder, limit, used } = exhausted
  return new Problem(
    holder === 'key' ? 'key-budget-exhausted' : 'member-budget-exhausted',
    `The download costs ${price} credits, and the ${holder} may spend ${Math.max(0, limit - used)} more in this month (UTC).`,
    { members: { price, creditLimit: limit, used } },
  )
}

/** Queues the mails about budgets that reach 80 or 100 % with this price. */
export async function noteBudgets(
  tx: Tx,
  at: Date,
  { organizationId, keyId, userId }: Grant,
  budgets: readonly Budget[],
  price: number,
): Promise<void> {
  for (const { holder, limit, used } of budgets) {
    const percent = reachedPart(limit, used, price)
    if (percent === null) continue
    const notice =
      holder === 'key'
        ? ({ kind: 'key-budget', keyId, percent } as const)
        : ({ kind: 'member-budget', userId: userId!, percent } as const)
    await queueBillingNotice(tx, at, organizationId!, notice)
  }
}

function reachedPart(limit: number, used: number, price: number): 80 | 100 | null {
  const reaches = (percent: number) => used * 100 < limit * percent && (used + price) * 100 >= limit * percent
  return reaches(100) ? 100 : reaches(80) ? 80 : null
}
