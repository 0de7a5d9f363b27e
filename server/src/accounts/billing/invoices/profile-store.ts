import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type { BillingProfile } from '@wayleave/contract/records'
import type { Db, Tx } from '../../../base/database/open.ts'

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

/** The provider's own id of an organization. */
export async function findCustomer(
  db: Db,
  organizationId: string,
  provider: PaymentProviderName,
): Promise<string | null> {
  const row = await db
    .selectFrom('payment_customers')
    .select('reference')
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return row?.reference ?? null
}

export async function putCustomer(
  tx: Tx,
  { organization_id, provider }: { organization_id: string; provider: PaymentProviderName },
  reference: string,
): Promise<void> {
  await tx
    .insertInto('payment_customers')
    .values({ organization_id, provider, reference })
    .onConflict((row) => row.columns(['organization_id', 'provider']).doUpdateSet({ reference }))
    .execute()
}
