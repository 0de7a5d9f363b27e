import type { ControlDatabase, Db, Tx } from '../database/open.ts'

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

/** Held until the transaction ends: of two refreshes with one token, the second sees what the first did. */
export async function lockRefreshToken(
  database: ControlDatabase,
  tx: Tx,
  tokenHash: string,
): Promise<RefreshTokenRow | undefined> {
  const query = tx.selectFrom('refresh_tokens').selectAll().where('token_hash', '=', tokenHash)
  return database.forUpdate(query).executeTakeFirst()
}

export async function setReplaced(tx: Tx, tokenHash: string, at: Date): Promise<void> {
  await tx
    .updateTable('refresh_tokens')
    .set({ replaced_at: at.toISOString() })
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** Again until nothing is left: a refresh that runs at the same time may add a token that the first pass misses. */
export async function deleteFamily(tx: Tx, familyId: string): Promise<void> {
  for (let deleted = 1n; deleted > 0n; ) {
    const result = await tx
      .deleteFrom('refresh_tokens')
      .where('family_id', '=', familyId)
      .executeTakeFirstOrThrow()
    deleted = result.numDeletedRows
  }
}

export async function deleteExpiredRefreshTokens(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('refresh_tokens').where('expires_at', '<', now.toISOString()).execute()
}
