import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Member } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Acting } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { readMemberBudgets } from './member-budget-store.ts'
import { sortPermissions } from './permissions.ts'

/**
 * A user has one row in `members` and the others in `further_members`. If a node of an earlier version moved a user to
 * an organization that they are a further member of, both tables have the pair, and the row of `members` counts.
 */
const TABLES = ['members', 'further_members'] as const

export interface Membership {
  organizationId: string
  permissions: MemberPermission[]
}

export interface UserOrganization {
  id: string
  name: string
  permissions: MemberPermission[]
}

/** Max values of one statement. */
const STEP = 500

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

/** The membership that a user acts with; undefined if they are not a member of that organization. */
export async function findMembership(
  db: Db,
  { userId, organizationId }: Acting,
): Promise<Membership | undefined> {
  if (organizationId === null) return undefined
  return (await readMemberships(db, userId)).find((one) => one.organizationId === organizationId)
}

/** All memberships of a user in organizations that are not closed: the one in `members`, then the others by age. */
export async function readMemberships(db: Db, userId: string): Promise<Membership[]> {
  const organizations = (await readOrganizationsOf(db, [userId])).get(userId) ?? []
  return organizations.map(({ id, permissions }) => ({ organizationId: id, permissions }))
}

/** The organization that a new session of the user begins in. */
export async function startingOrganization(db: Db, userId: string): Promise<string | null> {
  const ids = (await readMemberships(db, userId)).map(({ organizationId }) => organizationId)
  const user = await db
    .selectFrom('users')
    .select('current_organization_id as id')
    .where('id', '=', userId)
    .executeTakeFirst()
  return ids.find((id) => id === user?.id) ?? ids[0] ?? null
}

/** New sessions of the user begin in this organization. */
export async function setCurrentOrganization(tx: Tx, userId: string, organizationId: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ current_organization_id: organizationId })
    .where('id', '=', userId)
    .execute()
}

/** Whether the operator allows the organization to publish datasets. */
export async function isPublishing(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .where('publishing', '=', 1)
    .where('suspended_at', 'is', null)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** The organization that the user acts for, if they may publish datasets for it; otherwise null. */
export async function findPublishingOrganization(db: Db, acting: Acting): Promise<string | null> {
  const membership = await findMembership(db, acting)
  if (!membership?.permissions.includes('DATASET_PUBLISH')) return null
  return (await isPublishing(db, membership.organizationId)) ? membership.organizationId : null
}

/** Ordered by joining time, oldest first. */
export async function readMembers(db: Db, organizationId: string): Promise<Member[]> {
  const budgets = await readMemberBudgets(db, organizationId)
  const members = new Map<string, Member>()
  for (const table of TABLES) {
    const rows = await db
      .selectFrom(table)
      .innerJoin('users', 'users.id', `${table}.user_id`)
      .select([`${table}.user_id`, 'users.email', `${table}.permissions`, `${table}.joined_at`])
      .where(`${table}.organization_id`, '=', organizationId)
      .execute()
    for (const row of rows) {
      if (members.has(row.user_id)) continue
      members.set(row.user_id, {
        userId: row.user_id,
        email: row.email,
        permissions: parsePermissions(row.permissions),
        joinedAt: row.joined_at,
        creditLimit: budgets.get(row.user_id) ?? null,
      })
    }
  }
  return [...members.values()].sort((a, b) => compare(a.joinedAt, b.joinedAt) || compare(a.userId, b.userId))
}

/** The number of members of each organization. */
export async function countMembers(db: Db, organizationIds: readonly string[]): Promise<Map<string, number>> {
  const members = new Map<string, Set<string>>()
  for (const ids of stepsOf(organizationIds)) {
    for (const table of TABLES) {
      const rows = await db
        .selectFrom(table)
        .select(['user_id', 'organization_id'])
        .where('organization_id', 'in', ids)
        .execute()
      for (const row of rows) {
        const users = members.get(row.organization_id) ?? new Set()
        members.set(row.organization_id, users.add(row.user_id))
      }
    }
  }
  return new Map([...members].map(([id, users]) => [id, users.size]))
}

/** The organizations of each user, with the user's permissions in them; in the order of `readMemberships`. */
export async function readOrganizationsOf(
  db: Db,
  userIds: readonly string[],
): Promise<Map<string, UserOrganization[]>> {
  const organizations = new Map<string, UserOrganization[]>()
  for (const ids of stepsOf(userIds)) {
    for (const table of TABLES) {
      const rows = await db
        .selectFrom(table)
        .innerJoin('organizations', 'organizations.id', `${table}.organization_id`)
        .select([`${table}.user_id`, 'organizations.id', 'organizations.name', `${table}.permissions`])
        .where(`${table}.user_id`, 'in', ids)
        .where('organizations.closed_at', 'is', null)
        .orderBy(`${table}.joined_at`)
        .orderBy(`${table}.organization_id`)
        .execute()
      for (const { user_id, id, name, permissions } of rows) {
        const ofUser = organizations.get(user_id) ?? []
        organizations.set(user_id, ofUser)
        if (ofUser.some((one) => one.id === id)) continue
        ofUser.push({ id, name, permissions: parsePermissions(permissions) })
      }
    }
  }
  return organizations
}

/** Adds a user who is not a member of the organization yet; it becomes the one that their next session begins in. */
export async function putMember(
  tx: Tx,
  userId: string,
  { organizationId, permissions }: Membership,
  at: Date,
): Promise<void> {
  const row = {
    user_id: userId,
    organization_id: organizationId,
    permissions: JSON.stringify(sortPermissions(permissions)),
    joined_at: at.toISOString(),
  }
  const first = await tx
    .insertInto('members')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('user_id')
    .executeTakeFirst()
  if (!first) await tx.insertInto('further_members').values(row).execute()
  await setCurrentOrganization(tx, userId, organizationId)
}

export async function setPermissions(
  tx: Tx,
  userId: string,
  { organizationId, permissions }: Membership,
): Promise<void> {
  for (const table of TABLES) {
    await tx
      .updateTable(table)
      .set({ permissions: JSON.stringify(sortPermissions(permissions)) })
      .where('user_id', '=', userId)
      .where('organization_id', '=', organizationId)
      .execute()
  }
}

export async function deleteMember(tx: Tx, userId: string, organizationId: string): Promise<void> {
  for (const table of [...TABLES, 'member_budgets'] as const) {
    await tx
      .deleteFrom(table)
      .where('user_id', '=', userId)
      .where('organization_id', '=', organizationId)
      .execute()
  }
}

function parsePermissions(text: string): MemberPermission[] {
  return sortPermissions(JSON.parse(text) as MemberPermission[])
}

function stepsOf(ids: readonly string[]): string[][] {
  const steps = []
  for (let from = 0; from < ids.length; from += STEP) steps.push(ids.slice(from, from + STEP))
  return steps
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
