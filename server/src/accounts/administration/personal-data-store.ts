import { sql } from 'kysely'
import type { Db, Tx } from '../../base/database/open.ts'

/** What takes the place of a mail address or a name in events. */
const REMOVED = '(removed)'

/** Deletes invitations to the address, its sign-in links and wrong codes, and its choice of notices. */
export async function deleteRowsOfEmail(tx: Tx, email: string): Promise<void> {
  for (const table of ['invitations', 'sign_in_links', 'wrong_codes', 'notice_switches'] as const) {
    await tx.deleteFrom(table).where('email', '=', email).execute()
  }
}

/** Keeps all events, and removes the user's mail address and network addresses from them. */
export async function removeUserFromEvents(tx: Tx, userId: string, email: string): Promise<void> {
  await tx.updateTable('events').set({ address: null }).where('actor', '=', `user:${userId}`).execute()
  await tx.updateTable('events').set({ address: null }).where('subject', '=', `user:${userId}`).execute()
  await replaceInDetails(tx, email)
}

/** Deletes the log of the requests that the user's personal keys have made. */
export async function deleteRequestsOf(tx: Tx, userId: string): Promise<void> {
  const keys = tx.selectFrom('api_keys').select('id').where('user_id', '=', userId)
  await tx.deleteFrom('request_log').where('key_id', 'in', keys).execute()
}

/**
 * The name of a user's own organization begins as the first part of their mail address. Issued invoices stay as they
 * are: the law says how long they are kept.
 */
export async function closeOrganizationRow(
  tx: Tx,
  organizationId: string,
  name: string,
  at: Date,
): Promise<void> {
  const row = { name: REMOVED, closed_at: at.toISOString() }
  await tx.updateTable('organizations').set(row).where('id', '=', organizationId).execute()
  for (const table of ['webhooks', 'invitations', 'billing_profiles', 'credit_levels', 'notices'] as const) {
    await tx.deleteFrom(table).where('organization_id', '=', organizationId).execute()
  }
  const keys = tx.selectFrom('api_keys').select('id').where('organization_id', '=', organizationId)
  await tx.deleteFrom('request_log').where('key_id', 'in', keys).execute()
  for (const each of new Set([name, ...(await formerNames(tx, organizationId))]))
    await replaceInDetails(tx, each, organizationId)
}

/** The names that the audit log has of the organization. */
async function formerNames(tx: Tx, organizationId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('events')
    .select('detail')
    .where('organization_id', '=', organizationId)
    .where('action', 'in', ['organization.created', 'organization.renamed'])
    .execute()
  const names = rows.map(({ detail }) => (JSON.parse(detail) as { name?: unknown }).name)
  return names.filter((name) => typeof name === 'string' && name !== REMOVED) as string[]
}

/** Replaces a text where it is a whole JSON string. */
async function replaceInDetails(tx: Tx, text: string, organizationId?: string): Promise<void> {
  const [before, after] = [JSON.stringify(text), JSON.stringify(REMOVED)]
  const pattern = `%${before.replace(/[\\%_]/g, '\\$&')}%`
  let query = tx
    .updateTable('events')
    .set({ detail: sql<string>`replace(detail, ${before}, ${after})` })
    .where(sql<boolean>`detail like ${pattern} escape '\\'`)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  await query.execute()
}

/**
 * Ends the organization's access to datasets, and makes those that it owns the operator's. They are not refreshed any
 * more: the addresses and the credentials were the organization's.
 */
export async function leaveDatasets(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('dataset_grants').where('organization_id', '=', organizationId).execute()
  await tx.deleteFrom('sources').where('owner_id', '=', organizationId).execute()
  await tx.updateTable('datasets').set({ owner_id: null }).where('owner_id', '=', organizationId).execute()
}

/** Who the user is at providers of single sign-on. */
export function readSignOnOf(db: Db, userId: string) {
  return db
    .selectFrom('sign_on_identities')
    .select(['issuer', 'subject', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
}

/** Returns whether there was something to delete. */
export async function deleteSignOnOf(tx: Tx, userId: string): Promise<boolean> {
  const rows = await tx
    .deleteFrom('sign_on_identities')
    .where('user_id', '=', userId)
    .returning('issuer')
    .execute()
  return rows.length > 0
}

/** The notices that the address has switched off. */
export function readNoticeSwitchesOf(db: Db, email: string) {
  return db
    .selectFrom('notice_switches')
    .select(['notice', 'at as switchedOffAt'])
    .where('email', '=', email)
    .orderBy('notice')
    .execute()
}

/** The webhooks of these organizations that the user created, as far as the audit log still says so. */
export async function readWebhooksBy(db: Db, userId: string, organizationIds: readonly string[]) {
  if (organizationIds.length === 0) return []
  const created = db
    .selectFrom('events')
    .select('subject')
    .where('actor', '=', `user:${userId}`)
    .where('action', '=', 'webhook.created')
  const rows = await db
    .selectFrom('webhooks')
    .select(['id', 'organization_id', 'url', 'events', 'description', 'created_at as createdAt'])
    .where('organization_id', 'in', [...organizationIds])
    .where(sql<string>`'webhook:' || id`, 'in', created)
    .orderBy('created_at')
    .execute()
  return rows.map(({ organization_id, events, ...row }) => ({
    ...row,
    organizationId: organization_id!,
    events: JSON.parse(events) as string[],
  }))
}

/** The newest requests of the keys. */
export async function readRequestLogOf(db: Db, keyIds: readonly string[], limit: number) {
  if (keyIds.length === 0) return []
  const rows = await db
    .selectFrom('request_log')
    .selectAll()
    .where('key_id', 'in', [...keyIds])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id: _, key_id, table_name, ...row }) => ({
    keyId: key_id,
    table: table_name || null,
    ...row,
  }))
}

export function readInvitationsTo(db: Db, email: string) {
  return db
    .selectFrom('invitations')
    .select([
      'organization_id as organizationId',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'accepted_at as acceptedAt',
    ])
    .where('email', '=', email)
    .orderBy('created_at')
    .execute()
}

export async function readRequestsOf(db: Db, userId: string) {
  const rows = await db
    .selectFrom('access_requests')
    .select([
      'organization_id as organizationId',
      'add_ons',
      'credits',
      'message',
      'state',
      'created_at as createdAt',
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute()
  return rows.map(({ add_ons, ...row }) => ({ ...row, addOns: JSON.parse(add_ons) as string[] }))
}

/** The usage that is counted under these names, newest first. */
export async function readUsageOf(db: Db, usageKeys: readonly string[], limit: number) {
  if (usageKeys.length === 0) return []
  return db
    .selectFrom('usage')
    .select([
      'date',
      'key_id as countedFor',
      'organization_id as organizationId',
      'operation',
      'table_name as table',
      'format',
      'calls',
      'credits',
    ])
    .where('key_id', 'in', [...usageKeys])
    .orderBy('date', 'desc')
    .limit(limit)
    .execute()
}
