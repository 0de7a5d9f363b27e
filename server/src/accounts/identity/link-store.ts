import type { Selectable } from 'kysely'
import { type ControlDatabase, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type LinkRow = Selectable<Tables['sign_in_links']>

/** Max outstanding links per address; the oldest beyond this are invalidated. */
const MAX_OUTSTANDING = 3

/** After this many wrong codes, the code of a link is no longer valid. */
export const MAX_WRONG_CODES = 5

/** Generated ids begin with 1. */
const NO_ID = 0

/**
 * Adds a link, invalidates the codes of the earlier ones, and invalidates the oldest links above the limit. The
 * lock serializes concurrent calls.
 */
export async function insertLink(database: ControlDatabase, tx: Tx, row: LinkRow): Promise<void> {
  await database.lockName(tx, `sign-in-links ${row.email}`)
  await tx
    .updateTable('sign_in_links')
    .set({ wrong_codes: MAX_WRONG_CODES })
    .where('email', '=', row.email)
    .where('used_at', 'is', null)
    .execute()
  await tx.insertInto('sign_in_links').values(row).execute()
  await tx
    .deleteFrom('sign_in_links')
    .where('email', '=', row.email)
    .where('used_at', 'is', null)
    .where('id', '!=', row.id)
    .where('id', 'not in', latestOthers(tx, row))
    .execute()
}

/** Marks a link as used and returns its address. One statement: only one of two concurrent calls succeeds. */
export async function useLink(
  tx: Tx,
  by: { tokenHash: string } | { id: string },
  now: Date,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('sign_in_links')
    .set({ used_at: now.toISOString() })
    .where((column) => ('id' in by ? column('id', '=', by.id) : column('token_hash', '=', by.tokenHash)))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .returning('email')
    .executeTakeFirst()
  return row?.email
}

/** The links of an address that still work, newest first, locked until the transaction ends. */
export async function lockOutstandingLinks(
  database: ControlDatabase,
  tx: Tx,
  email: string,
  now: Date,
): Promise<LinkRow[]> {
  const query = tx
    .selectFrom('sign_in_links')
    .selectAll()
    .where('email', '=', email)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_OUTSTANDING)
  return database.forUpdate(query).execute()
}

export async function countWrongCodes(tx: Tx, email: string, since: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('wrong_codes')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('email', '=', email)
    .where('at', '>', since.toISOString())
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * A wrong code counts as a guess at every one of these links. Without links it does not count, and is written and
 * removed all the same: the time that this takes must not reveal whether a mail went to the address.
 */
export async function addWrongCode(tx: Tx, email: string, linkIds: string[], now: Date): Promise<void> {
  const { id } = await tx
    .insertInto('wrong_codes')
    .values({ email, at: now.toISOString() })
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('sign_in_links')
    .set((column) => ({ wrong_codes: column('wrong_codes', '+', 1) }))
    .where('id', 'in', linkIds.length > 0 ? linkIds : [''])
    .execute()
  await tx
    .deleteFrom('wrong_codes')
    .where('id', '=', linkIds.length > 0 ? NO_ID : id)
    .execute()
}

export async function deleteOldLinks(database: ControlDatabase, before: Date): Promise<void> {
  const at = before.toISOString()
  await deleteInSteps(database, 'sign_in_links', (row) => row('expires_at', '<', at))
  await deleteInSteps(database, 'wrong_codes', (row) => row('at', '<', at))
}

/** The links that stay beside a new one. It may not be the latest by time: clocks differ, and are set back. */
function latestOthers(tx: Tx, { id, email, created_at: now }: LinkRow) {
  return tx
    .selectFrom('sign_in_links')
    .select('id')
    .where('email', '=', email)
    .where('id', '!=', id)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_OUTSTANDING - 1)
}
