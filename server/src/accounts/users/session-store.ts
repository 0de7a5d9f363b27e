import type { Selectable } from 'kysely'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import { lockUser } from './user-store.ts'

export type RefreshTokenRow = Selectable<Tables['refresh_tokens']>

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

/** Tokens that descend from those of the session are for this organization. */
export async function setOrganizationOfFamily(
  tx: Tx,
  familyId: string,
  organizationId: string,
): Promise<void> {
  await tx
    .updateTable('refresh_tokens')
    .set({ organization_id: organizationId })
    .where('family_id', '=', familyId)
    .execute()
}

/** Null if the session began without an organization, undefined if it has ended. */
export async function organizationOfFamily(db: Db, familyId: string): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('refresh_tokens')
    .select('organization_id')
    .where('family_id', '=', familyId)
    .limit(1)
    .executeTakeFirst()
  return row?.organization_id
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

export interface SessionRow {
  id: string
  startedAt: string
  refreshedAt: string
  expiresAt: string
}

/** The sessions of a user that have not expired, the most recently used first. */
export async function listSessions(db: Db, userId: string, now: Date): Promise<SessionRow[]> {
  return db
    .selectFrom('refresh_tokens')
    .where('user_id', '=', userId)
    .groupBy('family_id')
    .having(({ fn }) => fn.max('expires_at'), '>', now.toISOString())
    .select(({ fn }) => [
      'family_id as id',
      fn.min('created_at').as('startedAt'),
      fn.max('created_at').as('refreshedAt'),
      fn.max('expires_at').as('expiresAt'),
    ])
    .orderBy('refreshedAt', 'desc')
    .orderBy('id')
    .execute()
}

/** The user's sessions, all or one of them; returns their ids. */
export async function deleteFamiliesOf(tx: Tx, userId: string, sessionId?: string): Promise<string[]> {
  let query = tx.deleteFrom('refresh_tokens').where('user_id', '=', userId)
  if (sessionId !== undefined) query = query.where('family_id', '=', sessionId)
  const rows = await query.returning('family_id').execute()
  return [...new Set(rows.map(({ family_id }) => family_id))]
}

export async function deleteFamily(tx: Tx, familyId: string): Promise<void> {
  await tx.deleteFrom('refresh_tokens').where('family_id', '=', familyId).execute()
}

export async function deleteRefreshTokensExpiredBefore(database: ControlDatabase, at: Date): Promise<void> {
  await deleteInSteps(database, 'refresh_tokens', (row) => row('expires_at', '<', at.toISOString()))
}
