import { sql } from 'kysely'
import type { Tx } from '../../base/database/open.ts'

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

/** The name of a user's own organization begins as the first part of their mail address. */
export async function closeOrganizationRow(
  tx: Tx,
  organizationId: string,
  name: string,
  at: Date,
): Promise<void> {
  const row = { name: REMOVED, closed_at: at.toISOString() }
  await tx.updateTable('organizations').set(row).where('id', '=', organizationId).execute()
  await tx.deleteFrom('webhooks').where('organization_id', '=', organizationId).execute()
  await replaceInDetails(tx, name, organizationId)
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

/** Ends the organization's access to datasets, and makes those that it owns the operator's. */
export async function leaveDatasets(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('dataset_grants').where('organization_id', '=', organizationId).execute()
  await tx.updateTable('datasets').set({ owner_id: null }).where('owner_id', '=', organizationId).execute()
}
