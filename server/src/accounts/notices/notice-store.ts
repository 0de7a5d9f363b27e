import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Notice } from '@wayleave/contract/webhook-events'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import { newId } from '../../base/id.ts'
import { readMembers } from '../access/membership-store.ts'

export type StoredNotice = Tables['notices']

/** Takes the oldest notice that no other process sends; null if there is none. */
export async function claimNotice(database: ControlDatabase, leaseMs: number): Promise<StoredNotice | null> {
  const { db } = database
  const isFree = database.time()
  const waiting = await db
    .selectFrom('notices')
    .select('id')
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<', isFree)]))
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  if (!waiting) return null
  const claimed = await db
    .updateTable('notices')
    .set({ lease_until: database.time(leaseMs) })
    .where('id', '=', waiting.id)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<', isFree)]))
    .returningAll()
    .executeTakeFirst()
  return claimed ?? null
}

export async function setNoticeDetail(db: Db, id: string, detail: object): Promise<void> {
  await db
    .updateTable('notices')
    .set({ detail: JSON.stringify(detail) })
    .where('id', '=', id)
    .execute()
}

export async function deleteNotice(db: Db, id: string): Promise<void> {
  await db.deleteFrom('notices').where('id', '=', id).execute()
}

/** Puts a notice for one organization in place of one for all. */
export async function addNotice(
  tx: Tx,
  notice: Notice,
  organizationId: string,
  detail: object,
  at: string,
): Promise<void> {
  await tx
    .insertInto('notices')
    .values({
      id: newId('ntc'),
      notice,
      organization_id: organizationId,
      detail: JSON.stringify(detail),
      created_at: at,
      lease_until: null,
    })
    .execute()
}

/** Returns whether this is the first mark of this name. */
export async function setMark(tx: Tx, id: string, at: string): Promise<boolean> {
  const row = await tx
    .insertInto('notice_marks')
    .values({ id, at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Those of the names that are marked. */
export async function readMarks(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const marked = new Set<string>()
  for (let from = 0; from < ids.length; from += 500) {
    const rows = await db
      .selectFrom('notice_marks')
      .select('id')
      .where('id', 'in', ids.slice(from, from + 500))
      .execute()
    for (const { id } of rows) marked.add(id)
  }
  return marked
}

export async function deleteMarksBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'notice_marks', (row) => row('at', '<', at))
}

/** The addresses of the members who have the permission and are not blocked. */
export async function readMemberAddresses(
  db: Db,
  organizationId: string,
  permission: MemberPermission | null,
): Promise<string[]> {
  const organization = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .where('suspended_at', 'is', null)
    .executeTakeFirst()
  if (!organization) return []
  return readPermittedAddresses(db, organizationId, permission)
}

/** The same, also of a suspended organization. */
export async function readPermittedAddresses(
  db: Db,
  organizationId: string,
  permission: MemberPermission | null,
): Promise<string[]> {
  const addresses = []
  for (const { userId, permissions } of await readMembers(db, organizationId)) {
    if (permission === null || permissions.includes(permission))
      addresses.push(...(await findUserAddress(db, userId)))
  }
  return addresses
}

export async function findUserAddress(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .where('blocked_at', 'is', null)
    .execute()
  return rows.map(({ email }) => email)
}

/** The organizations that have paid for a download of the dataset, not of an earlier one of the name. */
export async function readBuyers(db: Db, table: string): Promise<string[]> {
  const rows = await db
    .selectFrom('ledger')
    .innerJoin('datasets', 'datasets.table_name', 'ledger.table_name')
    .select('ledger.organization_id')
    .distinct()
    .where('ledger.table_name', '=', table)
    .where('ledger.kind', '=', 'download')
    .whereRef('ledger.at', '>=', 'datasets.created_at')
    .execute()
  return rows.map((row) => row.organization_id)
}

export async function findDatasetTitle(db: Db, table: string): Promise<string | null> {
  const row = await db
    .selectFrom('datasets')
    .select('title')
    .where('table_name', '=', table)
    .executeTakeFirst()
  return row?.title ?? null
}

/** The notices that an address switched off. */
export async function readSwitchedOff(db: Db, email: string): Promise<Set<string>> {
  const rows = await db.selectFrom('notice_switches').select('notice').where('email', '=', email).execute()
  return new Set(rows.map(({ notice }) => notice))
}

export async function switchNotice(
  db: Db,
  email: string,
  notice: Notice,
  isOn: boolean,
  at: Date,
): Promise<void> {
  if (isOn) {
    await db.deleteFrom('notice_switches').where('email', '=', email).where('notice', '=', notice).execute()
    return
  }
  await db
    .insertInto('notice_switches')
    .values({ email, notice, at: at.toISOString() })
    .onConflict((row) => row.columns(['email', 'notice']).doNothing())
    .execute()
}
