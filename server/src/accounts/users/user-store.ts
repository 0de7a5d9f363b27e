import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'

export interface User {
  id: string
  email: string
  createdAt: string
  lastSignInAt: string | null
  blockedAt: string | null
}

export async function findUser(db: Db, id: string): Promise<User | undefined> {
  return selectUsers(db).where('id', '=', id).executeTakeFirst()
}

/** `email` must be normalized. */
export async function findUserByEmail(db: Db, email: string): Promise<User | undefined> {
  return selectUsers(db).where('email', '=', email).executeTakeFirst()
}

/** Concurrent calls create one user: the unique index decides, and both read the same row. */
export async function findOrCreateUser(
  tx: Tx,
  email: string,
  at: Date,
): Promise<{ user: User; created: boolean }> {
  const id = newId('usr')
  await tx
    .insertInto('users')
    .values({
      id,
      email,
      created_at: at.toISOString(),
      last_sign_in_at: null,
      blocked_at: null,
      block_reason: null,
      current_organization_id: null,
    })
    .onConflict((row) => row.column('email').doNothing())
    .execute()
  const user = await selectUsers(tx).where('email', '=', email).executeTakeFirstOrThrow()
  return { user, created: user.id === id }
}

/** Lock order: lock the user's row first, then the organizations'. */
export async function lockUser(database: ControlDatabase, tx: Tx, id: string): Promise<boolean> {
  const query = tx.selectFrom('users').select('id').where('id', '=', id)
  return (await database.forUpdate(query).executeTakeFirst()) !== undefined
}

export async function setLastSignIn(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('users').set({ last_sign_in_at: at.toISOString() }).where('id', '=', id).execute()
}

/** A null time unblocks the user. */
export async function setBlocked(
  tx: Tx,
  id: string,
  block: { blocked_at: string | null; block_reason: string | null },
): Promise<void> {
  await tx.updateTable('users').set(block).where('id', '=', id).execute()
}

/** Deletes the user and, by cascade, their sessions, memberships and personal keys. */
export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('users').where('id', '=', id).execute()
}

function selectUsers(db: Db) {
  return db
    .selectFrom('users')
    .select([
      'id',
      'email',
      'created_at as createdAt',
      'last_sign_in_at as lastSignInAt',
      'blocked_at as blockedAt',
    ])
}
