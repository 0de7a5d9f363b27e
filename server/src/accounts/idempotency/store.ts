import { type ControlDatabase, type Db, deleteInSteps } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import type { Attempt } from '../../base/events/attempt-store.ts'

export type IdempotencyRow = Tables['idempotency_keys']

export function findIdempotencyKey(db: Db, id: string): Promise<IdempotencyRow | undefined> {
  return db.selectFrom('idempotency_keys').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns whether the row is new: of several requests at the same time, one inserts it. */
export async function insertIdempotencyKey(db: Db, row: IdempotencyRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** Gives the request to another attempt, unless the earlier one has carried it out or was replaced already. */
export async function takeOver(
  db: Db,
  { id, token }: Attempt,
  next: Partial<IdempotencyRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('idempotency_keys')
    .set(next)
    .where('id', '=', id)
    .where('token', '=', token)
    .where('carried_out', 'is', null)
    .where('response', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function storeResponse(db: Db, { id, token }: Attempt, response: string): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set({ response })
    .where('id', '=', id)
    .where('token', '=', token)
    .execute()
}

/** After a failure: the request may be repeated, unless it was carried out. */
export async function releaseIdempotencyKey(db: Db, { id, token }: Attempt): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('id', '=', id)
    .where('token', '=', token)
    .where('carried_out', 'is', null)
    .execute()
}

export async function deleteIdempotencyKey(db: Db, { id, token }: Attempt): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('id', '=', id).where('token', '=', token).execute()
}

export async function deleteIdempotencyKeysBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'idempotency_keys', (row) => row('created_at', '<', at))
}
