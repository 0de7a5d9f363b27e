import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import type { Db, Tx } from '../../base/database/open.ts'
import { addLedgerRow } from '../credits/ledger-store.ts'

export interface Organization {
  id: string
  name: string
  addOns: AddOn[]
  credits: number
  createdAt: string
  suspendedAt: string | null
  /** Whether the operator allows it to publish datasets. */
  publishing: boolean
}

export async function findOrganization(db: Db, id: string): Promise<Organization | undefined> {
  const row = await db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) return undefined
  return {
    id: row.id,
    name: row.name,
    addOns: await readAddOns(db, id),
    credits: row.credits,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
    publishing: row.publishing === 1,
  }
}

/** The initial credits of an organization are a ledger row like all others. */
export async function insertOrganization(
  tx: Tx,
  { id, name, addOns, credits, createdAt }: Organization,
  actor: string,
): Promise<void> {
  await tx
    .insertInto('organizations')
    .values({
      id,
      name,
      credits: 0,
      created_at: createdAt,
      suspended_at: null,
      suspend_reason: null,
      closed_at: null,
    })
    .execute()
  await insertAddOns(tx, id, addOns, createdAt)
  if (credits === 0) return
  await addLedgerRow(tx, {
    organization_id: id,
    at: createdAt,
    amount: credits,
    balance: credits,
    kind: 'grant',
    actor,
  })
}

export async function setOrganizationName(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable('organizations').set({ name }).where('id', '=', id).execute()
}

export async function setPublishing(tx: Tx, id: string, isAllowed: boolean): Promise<void> {
  await tx
    .updateTable('organizations')
    .set({ publishing: isAllowed ? 1 : 0 })
    .where('id', '=', id)
    .execute()
}

/** A null time ends the suspension. */
export async function setSuspended(
  tx: Tx,
  id: string,
  suspension: { suspended_at: string | null; suspend_reason: string | null },
): Promise<void> {
  await tx.updateTable('organizations').set(suspension).where('id', '=', id).execute()
}

/** Whether this actor's new organizations got initial credits before. */
export async function wasGivenCredits(db: Db, actor: string): Promise<boolean> {
  const row = await db
    .selectFrom('ledger')
    .select('id')
    .where('kind', '=', 'grant')
    .where('actor', '=', actor)
    .executeTakeFirst()
  return row !== undefined
}

export async function readAddOns(db: Db, organizationId: string): Promise<AddOn[]> {
  const rows = await db
    .selectFrom('add_ons')
    .select('add_on')
    .where('organization_id', '=', organizationId)
    .execute()
  return ADD_ONS.filter((addOn) => rows.some((row) => row.add_on === addOn))
}

export async function insertAddOns(
  tx: Tx,
  organizationId: string,
  addOns: readonly AddOn[],
  at: string,
): Promise<void> {
  if (addOns.length === 0) return
  await tx
    .insertInto('add_ons')
    .values(addOns.map((add_on) => ({ organization_id: organizationId, add_on, granted_at: at })))
    .onConflict((row) => row.columns(['organization_id', 'add_on']).doNothing())
    .execute()
}

export async function deleteAddOns(tx: Tx, organizationId: string, addOns: readonly AddOn[]): Promise<void> {
  if (addOns.length === 0) return
  await tx
    .deleteFrom('add_ons')
    .where('organization_id', '=', organizationId)
    .where('add_on', 'in', [...addOns])
    .execute()
}
