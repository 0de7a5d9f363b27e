import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Member } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { isId } from '../../base/id.ts'
import { sortPermissions } from './permissions.ts'

export interface Membership {
  organizationId: string
  permissions: MemberPermission[]
}

export async function organizationExists(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}

/**
 * Locks the organizations until the transaction ends, always in the same order to avoid deadlocks. Returns
 * those that exist and are not closed.
 */
export async function lockOrganizations(
  database: ControlDatabase,
  tx: Tx,
  ids: readonly string[],
): Promise<Set<string>> {
  const existing = new Set<string>()
  for (const id of [...new Set(ids)].sort()) {
    if (!isId('org', id)) continue
    const query = tx
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', id)
      .where('closed_at', 'is', null)
    if (await database.forUpdate(query).executeTakeFirst()) existing.add(id)
  }
  return existing
}

export async function findMembership(db: Db, userId: string): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('members')
    .select(['organization_id', 'permissions'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row && { organizationId: row.organization_id, permissions: parsePermissions(row.permissions) }
}

/** Whether the operator allows the organization to publish datasets. */
export async function isPublishing(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .where('publishing', '=', 1)
    .where('suspended_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** The organization that the user may publish datasets for; null if there is none. */
export async function findPublishingOrganization(db: Db, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select(['members.organization_id', 'members.permissions'])
    .where('members.user_id', '=', userId)
    .where('organizations.publishing', '=', 1)
    .where('organizations.suspended_at', 'is', null)
    .executeTakeFirst()
  return row && parsePermissions(row.permissions).includes('DATASET_PUBLISH') ? row.organization_id : null
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
