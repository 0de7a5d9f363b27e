import type { Db, Tx } from '../../base/database/open.ts'

/** A member of an organization in a month, such as 2026-11 (UTC). */
export interface MemberMonth {
  organizationId: string
  userId: string
  month: string
}

/** Credits that the member has spent, with personal keys and in the console. */
export async function readMemberSpending(db: Db | Tx, member: MemberMonth): Promise<number> {
  const row = await db
    .selectFrom('member_spending')
    .select('credits')
    .where('organization_id', '=', member.organizationId)
    .where('user_id', '=', member.userId)
    .where('month', '=', member.month)
    .executeTakeFirst()
  return row?.credits ?? 0
}

/** A separate count, because the usage of a deleted key does not say whose it was. */
export async function addMemberSpending(
  tx: Tx,
  { organizationId, userId, month }: MemberMonth,
  credits: number,
): Promise<void> {
  await tx
    .insertInto('member_spending')
    .values({ organization_id: organizationId, user_id: userId, month, credits })
    .onConflict((row) =>
      row.columns(['organization_id', 'user_id', 'month']).doUpdateSet((add) => ({
        credits: add('member_spending.credits', '+', add.ref('excluded.credits')),
      })),
    )
    .execute()
}

/** What a user has spent in each month and organization, the newest first. */
export function readSpendingOf(db: Db, userId: string, limit: number) {
  return db
    .selectFrom('member_spending')
    .select(['organization_id as organizationId', 'month', 'credits'])
    .where('user_id', '=', userId)
    .orderBy('month', 'desc')
    .orderBy('organization_id')
    .limit(limit)
    .execute()
}
