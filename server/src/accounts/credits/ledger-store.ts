import type { LedgerRow } from '@wayleave/contract/records'
import type { Insertable } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

type LedgerTable = Tables['ledger']

/** A row to insert; `balance` is the organization's balance after it. */
export type NewLedgerRow = Insertable<LedgerTable>

/** Locks the balance until the transaction ends: of two concurrent charges, the second sees what is left. */
export async function lockBalance(
  database: ControlDatabase,
  tx: Tx,
  organizationId: string,
): Promise<number | undefined> {
  const query = tx.selectFrom('organizations').select('credits').where('id', '=', organizationId)
  return (await database.forUpdate(query).executeTakeFirst())?.credits
}

/** Writes the balance together with the row that explains it. Returns the row's id. */
export async function addLedgerRow(tx: Tx, row: NewLedgerRow): Promise<number> {
  await tx
    .updateTable('organizations')
    .set({ credits: row.balance })
    .where('id', '=', row.organization_id)
    .execute()
  // The organization is told again when these are used up too.
  if (row.amount > 0) {
    await tx
      .updateTable('credit_levels')
      .set({ exhausted_at: null })
      .where('organization_id', '=', row.organization_id)
      .where('exhausted_at', 'is not', null)
      .execute()
  }
  const { id } = await tx.insertInto('ledger').values(row).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Whether the organization has paid for any file of a version, and was not refunded. */
export async function hasPaidFor(
  db: Db,
  organizationId: string,
  { table, version }: { table: string; version: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('ledger')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('table_name', '=', table)
    .where('version', '=', version)
    .where('kind', '=', 'download')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('ledger as refund').select('refund.id').whereRef('refund.refunds', '=', 'ledger.id'),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export interface LedgerFilter {
  kind?: LedgerTable['kind'] | undefined
  /** At or after this time. */
  since?: string | undefined
  /** Before this time. */
  until?: string | undefined
  keyId?: string | undefined
  /** Downloads of this user in the console or with their personal keys, and credits that they granted. */
  userId?: string | undefined
  table?: string | undefined
  before?: number | undefined
  limit: number
}

type StoredLedgerRow = Omit<LedgerRow, 'keyName' | 'member'>

/** The rows that match, newest first. */
export function readLedger(db: Db, organizationId: string, filter: LedgerFilter): Promise<StoredLedgerRow[]> {
  const { kind, since, until, keyId, userId, table, before, limit } = filter
  let rows = db
    .selectFrom('ledger')
    .select([
      'id',
      'at',
      'kind',
      'amount',
      'balance',
      'order_id as orderId',
      'key_id as keyId',
      'table_name as table',
      'version',
      'format',
      'actor',
    ])
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (kind !== undefined) rows = rows.where('kind', '=', kind)
  if (since !== undefined) rows = rows.where('at', '>=', since)
  if (until !== undefined) rows = rows.where('at', '<', until)
  if (keyId !== undefined) rows = rows.where('key_id', '=', keyId)
  if (table !== undefined) rows = rows.where('table_name', '=', table)
  if (userId !== undefined) {
    const personalKeys = db
      .selectFrom('api_keys')
      .select('id')
      .where('scope', '=', 'user')
      .where('user_id', '=', userId)
    rows = rows.where((row) =>
      row.or([row('actor', '=', `user:${userId}`), row('key_id', 'in', personalKeys)]),
    )
  }
  if (before !== undefined) rows = rows.where('id', '<', before)
  return rows.execute()
}
