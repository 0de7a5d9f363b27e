import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type { BillingProfile } from '@wayleave/contract/records'
import type { Db, Tx } from '../../base/database/open.ts'

const EMPTY: BillingProfile = { company: '', address: '', taxNumber: '' }

export async function readProfile(db: Db | Tx, organizationId: string): Promise<BillingProfile> {
  const [profile] = await readProfiles(db, [organizationId])
  if (!profile) return EMPTY
  const { organizationId: _, ...rest } = profile
  return rest
}

/** Those of the organizations that have one. */
export async function readProfiles(
  db: Db | Tx,
  organizationIds: readonly string[],
): Promise<(BillingProfile & { organizationId: string })[]> {
  if (organizationIds.length === 0) return []
  return db
    .selectFrom('billing_profiles')
    .select(['organization_id as organizationId', 'company', 'address', 'tax_number as taxNumber'])
    .where('organization_id', 'in', [...organizationIds])
    .orderBy('organization_id')
    .execute()
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
