import type { Selectable } from 'kysely'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import type { Acting } from '../../base/events/events.ts'
import { sessionPayer } from '../access/grant.ts'

export type StoredKey = Selectable<Tables['api_keys']>

/**
 * The keys of an organization, or those of a user in it. Includes revoked and expired keys: their records are kept until
 * they are deleted.
 */
export async function countKeys(
  tx: Tx,
  { userId, organizationId }: { userId: string | null; organizationId: string },
): Promise<number> {
  const keys = tx
    .selectFrom('api_keys')
    .where('kind', '=', 'key')
    .where('organization_id', '=', organizationId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
  const { count } = await (userId === null
    ? keys.where('scope', '=', 'organization')
    : keys.where('scope', '=', 'user').where('user_id', '=', userId)
  ).executeTakeFirstOrThrow()
  return Number(count)
}

/** Keys of the organization and personal keys of its members in it. */
export async function countAllKeys(tx: Tx, organizationId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('api_keys')
    .where('kind', '=', 'key')
    .where('organization_id', '=', organizationId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertKey(tx: Tx, key: StoredKey): Promise<void> {
  await tx.insertInto('api_keys').values(key).execute()
}

/** Session keys are excluded; they cannot be looked up by id. */
export function findKey(db: Db, id: string): Promise<StoredKey | undefined> {
  return selectKeys(db).where('id', '=', id).executeTakeFirst()
}

export function lockKey(database: ControlDatabase, tx: Tx, id: string): Promise<StoredKey | undefined> {
  return database.forUpdate(selectKeys(tx).where('id', '=', id)).executeTakeFirst()
}

export async function updateKey(tx: Tx, id: string, values: Partial<StoredKey>): Promise<void> {
  await tx.updateTable('api_keys').set(values).where('id', '=', id).execute()
}

/** Records, for backups, that the key's current secret must never work again. */
export async function recordRevokedSecret(tx: Tx, key: StoredKey, at: Date): Promise<void> {
  await tx
    .insertInto('revoked_secrets')
    .values({ secret_hash: key.secret_hash, key_id: key.id, at: at.toISOString() })
    .onConflict((row) => row.column('secret_hash').doNothing())
    .execute()
}

export const NO_PREVIOUS_SECRET = {
  previous_secret_hash: null,
  previous_prefix: null,
  previous_ends_at: null,
  previous_last_used_at: null,
}

/** The values of a key whose current secret goes on working after a rotation. */
export function previousSecretOf(key: StoredKey, endsAt: string): Partial<StoredKey> {
  return {
    previous_secret_hash: key.secret_hash,
    previous_prefix: key.prefix,
    previous_ends_at: endsAt,
    previous_last_used_at: key.last_used_at,
  }
}

export async function deleteKey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('id', '=', id).execute()
}

/** The key of a user that this program got before and that is not revoked, locked until the transaction ends. */
export function lockAssistantKey(
  database: ControlDatabase,
  tx: Tx,
  acting: Acting,
  assistant: string,
): Promise<StoredKey | undefined> {
  return database
    .forUpdate(
      workingUserKeys(tx, acting).where('assistant', '=', assistant).orderBy('created_at', 'desc').limit(1),
    )
    .executeTakeFirst()
}

export function listUserKeys(db: Db, acting: Acting): Promise<StoredKey[]> {
  return userKeys(db, acting).orderBy('created_at', 'desc').orderBy('id').execute()
}

/** The personal keys of a user in all organizations, also in those that they have left. */
export function listKeysOfUser(db: Db, userId: string): Promise<StoredKey[]> {
  return newestFirst(db).where('scope', '=', 'user').where('user_id', '=', userId).limit(1000).execute()
}

export function listOrganizationKeys(db: Db, organizationId: string): Promise<StoredKey[]> {
  return newestFirst(db)
    .where('scope', '=', 'organization')
    .where('organization_id', '=', organizationId)
    .execute()
}

/** The organization's keys and the personal keys of its members. */
export function listKeysIn(db: Db, organizationId: string): Promise<StoredKey[]> {
  return newestFirst(db).where('organization_id', '=', organizationId).limit(1000).execute()
}

export function listPlatformKeys(db: Db): Promise<StoredKey[]> {
  return newestFirst(db).where('scope', '=', 'platform').execute()
}

/** The user's keys of one organization that are not revoked yet, locked until the transaction ends. */
export function lockWorkingUserKeys(database: ControlDatabase, tx: Tx, acting: Acting): Promise<StoredKey[]> {
  return database.forUpdate(workingUserKeys(tx, acting).orderBy('id')).execute()
}

/** The same for the keys of the organization itself. */
export function lockWorkingOrganizationKeys(
  database: ControlDatabase,
  tx: Tx,
  organizationId: string,
): Promise<StoredKey[]> {
  return database
    .forUpdate(
      selectKeys(tx)
        .where('scope', '=', 'organization')
        .where('organization_id', '=', organizationId)
        .where('revoked_at', 'is', null)
        .orderBy('id'),
    )
    .execute()
}

/** Keys that are not revoked. */
export function listKeysExpiringBetween(db: Db, from: string, to: string): Promise<StoredKey[]> {
  return selectKeys(db)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', from)
    .where('expires_at', '<=', to)
    .orderBy('id')
    .execute()
}

/** Keys with this prefix, or with this secret; the newest first. A previous secret counts until it ends. */
export function findKeysBy(
  db: Db,
  by: { prefix: string } | { secretHash: string },
  now: Date,
  limit: number,
): Promise<StoredKey[]> {
  const [current, previous, value] =
    'prefix' in by
      ? (['prefix', 'previous_prefix', by.prefix] as const)
      : (['secret_hash', 'previous_secret_hash', by.secretHash] as const)
  return newestFirst(db)
    .where((key) =>
      key.or([
        key(current, '=', value),
        key.and([key(previous, '=', value), key('previous_ends_at', '>', now.toISOString())]),
      ]),
    )
    .limit(limit)
    .execute()
}

/** What the user's session keys have bought with the credits of the organization. */
export async function deleteSessionPurchases(tx: Tx, userId: string, organizationId: string): Promise<void> {
  await tx.deleteFrom('purchases').where('payer', '=', sessionPayer(userId, organizationId)).execute()
}

/** The session keys of a user, of one organization or of all. */
export async function deleteSessionKeys(tx: Tx, userId: string, organizationId?: string): Promise<void> {
  let query = tx.deleteFrom('api_keys').where('kind', '=', 'session').where('user_id', '=', userId)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  await query.execute()
}

/** Returns the ids of the deleted keys. */
export async function deleteKeysOfSession(tx: Tx, sessionId: string): Promise<string[]> {
  const rows = await tx.deleteFrom('api_keys').where('session_id', '=', sessionId).returning('id').execute()
  return rows.map(({ id }) => id)
}

export async function deleteSessionKeysExpiredBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'api_keys', (row) =>
    row.and([row('kind', '=', 'session'), row('expires_at', '<', at)]),
  )
}

/** Those of the ids that are not deleted. */
export async function existingKeys(db: Db, ids: string[]): Promise<Set<string>> {
  const existing = new Set<string>()
  for (let from = 0; from < ids.length; from += 500) {
    const rows = await db
      .selectFrom('api_keys')
      .select('id')
      .where('id', 'in', ids.slice(from, from + 500))
      .execute()
    for (const { id } of rows) existing.add(id)
  }
  return existing
}

function selectKeys(db: Db) {
  return db.selectFrom('api_keys').selectAll().where('kind', '=', 'key')
}

/** The keys of a user in one organization. */
function userKeys(db: Db, { userId, organizationId }: Acting) {
  return selectKeys(db)
    .where('scope', '=', 'user')
    .where('user_id', '=', userId)
    .where('organization_id', '=', organizationId)
}

function workingUserKeys(tx: Tx, acting: Acting) {
  return userKeys(tx, acting).where('revoked_at', 'is', null)
}

function newestFirst(db: Db) {
  return selectKeys(db).orderBy('created_at', 'desc').orderBy('id')
}
