import type { Db, Tx } from '../../base/database/open.ts'

/** Credits that each member of the organization may spend in a month; members without a limit are missing. */
export async function readMemberBudgets(db: Db | Tx, organizationId: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('member_budgets')
    .select(['user_id', 'credit_limit'])
    .where('organization_id', '=', organizationId)
    .execute()
  return new Map(rows.map(({ user_id, credit_limit }) => [user_id, credit_limit]))
}

export async function findMemberBudget(
  db: Db | Tx,
  organizationId: string,
  userId: string,
): Promise<number | null> {
  const row = await db
    .selectFrom('member_budgets')
    .select('credit_limit')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.credit_limit ?? null
}

/** Null removes the limit. */
export async function setMemberBudget(
  tx: Tx,
  organizationId: string,
  userId: string,
  creditLimit: number | null,
): Promise<void> {
  if (creditLimit === null) {
    await tx
      .deleteFrom('member_budgets')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .execute()
    return
  }
  await tx
    .insertInto('member_budgets')
    .values({ organization_id: organizationId, user_id: userId, credit_limit: creditLimit })
    .onConflict((row) =>
      row.columns(['organization_id', 'user_id']).doUpdateSet({ credit_limit: creditLimit }),
    )
    .execute()
}

/** The budgets of a user, in all organizations. */
export function readBudgetsOf(db: Db, userId: string) {
  return db
    .selectFrom('member_budgets')
    .select(['organization_id as organizationId', 'credit_limit as creditLimit'])
    .where('user_id', '=', userId)
    .orderBy('organization_id')
    .execute()
}
