import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Member } from '@wayleave/contract/records'
import { addLedgerRow } from '../credits/ledger-store.ts'
import type { ControlDatabase, Db, Tx } from '../database/open.ts'
import { isId } from '../id.ts'
import { sortPermissions } from './permissions.ts'

export interface Organization {
  id: string
  name: string
  addOns: AddOn[]
  credits: number
  createdAt: string
}

export interface Membership {
  organizationId: string
  permissions: MemberPermission[]
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
  }
}

export async function organizationExists(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/**
 * Locks the organizations until the transaction ends, always in the same order to avoid deadlocks. Returns
 * those that exist.
 */
export async function lockOrganizations(
  database: ControlDatabase,
  tx: Tx,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const id of [...new Set(ids)].sort()) {
    if (!isId('org', id)) continue
    const query = tx.selectFrom('organizations').select('id').where('id', '=', id)
    if (await database.forUpdate(query).executeTakeFirst()) found.add(id)
  }
  return found
}

/** The initial credits of an organization are a ledger row like all others. */
export async function insertOrganization(
  tx: Tx,
  { id, name, addOns, credits, createdAt }: Organization,
  actor: string,
): Promise<void> {
  await tx.insertInto('organizations').values({ id, name, credits: 0, created_at: createdAt }).execute()
  await insertAddOns(tx, id, addOns, createdAt)
  if (credits === 0) return
  await addLedgerRow(tx, {
    organization_id: id,
    at: createdAt,
    amount: credits,
    balance: credits,
    kind: 'grant',
    key_id: null,
    table_name: null,
    version: null,
    format: null,
    actor,
    refunds: null,
  })
}

export async function setOrganizationName(tx: Tx, id: string, name: string): Promise<void> {
  await tx.updateTable('organizations').set({ name }).where('id', '=', id).execute()
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

export async function findMembership(db: Db, userId: string): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('members')
    .select(['organization_id', 'permissions'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && { organizationId: row.organization_id, permissions: parsePermissions(row.permissions) }
}

/** Ordered by joining time, oldest first. */
export async function readMembers(db: Db, organizationId: string): Promise<Member[]> {
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['members.user_id', 'users.email', 'members.permissions', 'members.joined_at'])
    .where('members.organization_id', '=', organizationId)
    .orderBy('members.joined_at')
    .orderBy('members.user_id')
    .execute()
  return rows.map((row) => ({
    userId: row.user_id,
    email: row.email,
    permissions: parsePermissions(row.permissions),
    joinedAt: row.joined_at,
  }))
}

/** Moves a user into an organization, out of any other. */
export async function putMember(
  tx: Tx,
  userId: string,
  { organizationId, permissions }: Membership,
  at: Date,
): Promise<void> {
  const row = {
    organization_id: organizationId,
    permissions: JSON.stringify(sortPermissions(permissions)),
    joined_at: at.toISOString(),
  }
  await tx
    .insertInto('members')
    .values({ user_id: userId, ...row })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
    .execute()
}

export async function setPermissions(
  tx: Tx,
  userId: string,
  { organizationId, permissions }: Membership,
): Promise<void> {
  await tx
    .updateTable('members')
    .set({ permissions: JSON.stringify(sortPermissions(permissions)) })
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
    .execute()
}

export async function deleteMember(tx: Tx, userId: string, organizationId: string): Promise<void> {
  await tx
    .deleteFrom('members')
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
    .execute()
}

function parsePermissions(text: string): MemberPermission[] {
  return sortPermissions(JSON.parse(text) as MemberPermission[])
}
