import { ADD_ONS } from '@wayleave/contract/add-ons'
import type { AdminOrganization, AdminUser } from '@wayleave/contract/records'
import { sql } from 'kysely'
import type { Db } from '../../base/database/open.ts'
import { countMembers, readOrganizationsOf } from '../access/membership-store.ts'

/** Selects a part of a list: one row by id, or the rows that match a search, starting after the given id. */
export interface Listing {
  id?: string
  search?: string
  after?: string
  limit?: number
}

/** Ordered by creation time, then by id. */
export async function listOrganizations(db: Db, listing: Listing = {}): Promise<AdminOrganization[]> {
  let query = db.selectFrom('organizations').selectAll().orderBy('created_at').orderBy('id')
  query = listing.id === undefined ? query.where('closed_at', 'is', null) : query.where('id', '=', listing.id)
  if (listing.search !== undefined) {
    const like = contains(listing.search)
    query = query.where(
      sql<boolean>`(lower(name) like ${like} escape '\\' or lower(id) like ${like} escape '\\')`,
    )
  }
  if (listing.after !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, id) > (select created_at, id from organizations where id = ${listing.after})`,
    )
  }
  if (listing.limit !== undefined) query = query.limit(listing.limit)
  const rows = await query.execute()
  const ids = rows.map(({ id }) => id)
  const granted = await readAllAddOns(db, ids)
  const members = await countMembers(db, ids)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    addOns: ADD_ONS.filter((addOn) => granted.get(row.id)?.has(addOn)),
    credits: { balance: row.credits },
    members: members.get(row.id) ?? 0,
    createdAt: row.created_at,
    suspendedAt: row.suspended_at,
    suspendReason: row.suspend_reason,
    publishing: row.publishing === 1,
  }))
}

export async function listUsers(db: Db, listing: Listing = {}): Promise<AdminUser[]> {
  let query = db
    .selectFrom('users')
    .select([
      'users.id',
      'users.email',
      'users.created_at as createdAt',
      'users.last_sign_in_at as lastSignInAt',
      'users.blocked_at as blockedAt',
      'users.block_reason as blockReason',
    ])
    .orderBy('users.created_at')
    .orderBy('users.id')
  if (listing.id !== undefined) query = query.where('users.id', '=', listing.id)
  if (listing.search !== undefined) {
    const like = contains(listing.search)
    query = query.where(
      sql<boolean>`(users.email like ${like} escape '\\' or lower(users.id) like ${like} escape '\\')`,
    )
  }
  if (listing.after !== undefined) {
    query = query.where(
      sql<boolean>`(users.created_at, users.id) > (select created_at, id from users where id = ${listing.after})`,
    )
  }
  if (listing.limit !== undefined) query = query.limit(listing.limit)
  const rows = await query.execute()
  const memberships = await readOrganizationsOf(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const organizations = memberships.get(row.id) ?? []
    const first = organizations[0]
    return {
      ...row,
      organizationId: first?.id ?? null,
      organizationName: first?.name ?? null,
      permissions: first?.permissions ?? [],
      organizations,
    }
  })
}

async function readAllAddOns(db: Db, ids: string[]): Promise<Map<string, Set<string>>> {
  const granted = new Map<string, Set<string>>()
  for (let from = 0; from < ids.length; from += 500) {
    const rows = await db
      .selectFrom('add_ons')
      .select(['organization_id', 'add_on'])
      .where('organization_id', 'in', ids.slice(from, from + 500))
      .execute()
    for (const row of rows) {
      const addOns = granted.get(row.organization_id) ?? new Set()
      granted.set(row.organization_id, addOns.add(row.add_on))
    }
  }
  return granted
}

/** Escapes LIKE wildcards: a search is literal text, not a pattern. */
function contains(search: string): string {
  return `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
}
