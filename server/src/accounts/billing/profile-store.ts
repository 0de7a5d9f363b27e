import type { BillingProfile } from '@wayleave/contract/records'
import type { Db, Tx } from '../../base/database/open.ts'

const EMPTY: BillingProfile = { company: '', address: '', taxNumber: '', noticeBalance: null }

export async function readProfile(db: Db | Tx, organizationId: string): Promise<BillingProfile> {
  const row = await db
    .selectFrom('billing_profiles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (!row) return EMPTY
  const { company, address, tax_number, notice_balance } = row
  return { company, address, taxNumber: tax_number, noticeBalance: notice_balance }
}

export async function writeProfile(tx: Tx, organizationId: string, profile: BillingProfile): Promise<void> {
  const row = {
    company: profile.company,
    address: profile.address,
    tax_number: profile.taxNumber,
    notice_balance: profile.noticeBalance,
    notified_at: null,
  }
  await tx
    .insertInto('billing_profiles')
    .values({ organization_id: organizationId, ...row })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
    .execute()
}

/** Organizations whose balance is below the one at which they want to be told, and were not told yet. */
export function readLowBalances(db: Db, limit: number) {
  return db
    .selectFrom('billing_profiles')
    .innerJoin('organizations', 'organizations.id', 'billing_profiles.organization_id')
    .select(['organizations.id', 'organizations.name', 'organizations.credits'])
    .whereRef('organizations.credits', '<', 'billing_profiles.notice_balance')
    .where('billing_profiles.notified_at', 'is', null)
    .where('organizations.closed_at', 'is', null)
    .limit(limit)
    .execute()
}

/** Whether this call set it: of two nodes, one sends the mail. */
export async function markNotified(db: Db, organizationId: string, at: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('billing_profiles')
    .set({ notified_at: at })
    .where('organization_id', '=', organizationId)
    .where('notified_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** A balance that rose above it again is told about when it falls the next time. */
export async function forgetNotified(db: Db): Promise<void> {
  await db
    .updateTable('billing_profiles')
    .set({ notified_at: null })
    .where('notified_at', 'is not', null)
    .where('organization_id', 'in', (row) =>
      row
        .selectFrom('organizations')
        .innerJoin('billing_profiles as told', 'told.organization_id', 'organizations.id')
        .select('organizations.id')
        .whereRef('organizations.credits', '>=', 'told.notice_balance'),
    )
    .execute()
}
