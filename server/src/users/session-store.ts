import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../database/open.ts'
import { lockUser } from './user-store.ts'

export interface RefreshTokenRow {
  token_hash: string
  family_id: string
  user_id: string
  created_at: string
  expires_at: string
  replaced_at: string | null
}

export async function insertRefreshToken(tx: Tx, row: RefreshTokenRow): Promise<void> {
  await tx.insertInto('refresh_tokens').values(row).execute()
}

export async function findRefreshToken(tx: Tx, tokenHash: string): Promise<RefreshTokenRow | undefined> {
  return tx.selectFrom('refresh_tokens').selectAll().where('token_hash', '=', tokenHash).executeTakeFirst()
}

/**
 * Locks the user's row until the transaction ends: of two refreshes with one token, the second sees the
 * result of the first, and ending a family cannot deadlock with them.
 */
export async function lockRefreshToken(
  database: ControlDatabase,
  tx: Tx,
  tokenHash: string,
): Promise<RefreshTokenRow | undefined> {
  const row = await findRefreshToken(tx, tokenHash)
  if (!row) return undefined
  await lockUser(database, tx, row.user_id)
  return findRefreshToken(tx, tokenHash)
}

export async function setReplaced(tx: Tx, tokenHash: string, at: Date): Promise<void> {
  await tx
    .updateTable('refresh_tokens')
    .set({ replaced_at: at.toISOString() })
    .where('token_hash', '=', tokenHash)
    .execute()
}

export async function hasFamily(db: Db, familyId: string): Promise<boolean> {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('family_id')
    .where('family_id', '=', familyId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteFamily(tx: Tx, familyId: string): Promise<void> {
  await tx.deleteFrom('refresh_tokens').where('family_id', '=', familyId).execute()
}

export async function deleteRefreshTokensExpiredBefore(database: ControlDatabase, at: Date): Promise<void> {
  await deleteInSteps(database, 'refresh_tokens', (row) => row('expires_at', '<', at.toISOString()))
}
