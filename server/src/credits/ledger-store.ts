import type { LedgerRow } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../database/open.ts'
import type { Tables } from '../database/schema.ts'

type LedgerTable = Tables['ledger']

/** A row to insert; `balance` is the organization's balance after it. */
export type NewLedgerRow = Omit<LedgerTable, 'id'>

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
  const { id } = await tx.insertInto('ledger').values(row).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Newest first, starting before the given row. */
export function readLedger(
  db: Db,
  organizationId: string,
  { before, limit }: { before?: number; limit: number },
): Promise<LedgerRow[]> {
  const rows = db
    .selectFrom('ledger')
    .select([
      'id',
      'at',
      'kind',
      'amount',
      'balance',
      'key_id as keyId',
      'table_name as table',
      'version',
      'format',
      'actor',
    ])
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(limit)
  return (before === undefined ? rows : rows.where('id', '<', before)).execute()
}
