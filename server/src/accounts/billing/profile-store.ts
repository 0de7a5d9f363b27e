import type { BillingProfile } from '@wayleave/contract/records'
import type { Db, Tx } from '../../base/database/open.ts'

const EMPTY: BillingProfile = { company: '', address: '', taxNumber: '' }

export async function readProfile(db: Db | Tx, organizationId: string): Promise<BillingProfile> {
  const row = await db
    .selectFrom('billing_profiles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (!row) return EMPTY
  const { company, address, tax_number } = row
  return { company, address, taxNumber: tax_number }
}

export async function writeProfile(tx: Tx, organizationId: string, profile: BillingProfile): Promise<void> {
  const row = {
    company: profile.company,
    address: profile.address,
    tax_number: profile.taxNumber,
  }
  await tx
    .insertInto('billing_profiles')
    .values({ organization_id: organizationId, ...row })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
    .execute()
}
