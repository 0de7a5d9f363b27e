import type { Db, Tx } from '../../base/database/open.ts'

export interface CreditLevel {
  /** Null: the organization is not told that its credits are low. */
  lowLimit: number | null
  /** Null while there are credits. */
  exhaustedAt: string | null
}

export async function readCreditLevel(db: Db, organizationId: string): Promise<CreditLevel> {
  const row = await db
    .selectFrom('credit_levels')
    .select(['low_limit', 'exhausted_at'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return { lowLimit: row?.low_limit ?? null, exhaustedAt: row?.exhausted_at ?? null }
}

export async function setCreditLevel(
  tx: Tx,
  organizationId: string,
  level: { low_limit: number | null } | { exhausted_at: string },
): Promise<void> {
  await tx
    .insertInto('credit_levels')
    .values({ organization_id: organizationId, low_limit: null, exhausted_at: null, ...level })
    .onConflict((row) => row.column('organization_id').doUpdateSet(level))
    .execute()
}
