import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'

export interface Purchase {
  payer: string
  table: string
  version: number
  format: string
  /** Whether a purchase of the version in any format includes it. */
  isPartOfVersion?: boolean
}

/** How the names of files of filtered rows begin; other names are formats of whole versions. */
export const EXTRACT_ITEM = 'extract '

/** Whether the purchase was made after the given time. */
export async function hasPurchase(db: Db | Tx, purchase: Purchase, after: string): Promise<boolean> {
  const { format, isPartOfVersion = false } = purchase
  const row = await db
    .selectFrom('purchases')
    .select('paid_at')
    .where('payer', '=', purchase.payer)
    .where('table_name', '=', purchase.table)
    .where('version', '=', purchase.version)
    .where((row) =>
      isPartOfVersion
        ? row.or([row('format', '=', format), row('format', 'not like', `${EXTRACT_ITEM}%`)])
        : row('format', '=', format),
    )
    .where('paid_at', '>', after)
    .executeTakeFirst()
  return row !== undefined
}

/** The purchases of a payer in one dataset that were made after the given time. */
export async function readPurchases(
  db: Db,
  payer: string,
  table: string,
  after: string,
): Promise<{ version: number; format: string; paidAt: string }[]> {
  const rows = await db
    .selectFrom('purchases')
    .select(['version', 'format', 'paid_at'])
    .where('payer', '=', payer)
    .where('table_name', '=', table)
    .where('format', 'not like', `${EXTRACT_ITEM}%`)
    .where('paid_at', '>', after)
    .orderBy('paid_at', 'desc')
    .execute()
  return rows.map(({ version, format, paid_at }) => ({ version, format, paidAt: paid_at }))
}

export async function recordPurchase(
  tx: Tx,
  purchase: Purchase,
  paidAt: string,
  ledgerId: number,
): Promise<void> {
  await tx
    .insertInto('purchases')
    .values({
      payer: purchase.payer,
      table_name: purchase.table,
      version: purchase.version,
      format: purchase.format,
      paid_at: paidAt,
      ledger_id: ledgerId,
    })
    .onConflict((row) =>
      row
        .columns(['payer', 'table_name', 'version', 'format'])
        .doUpdateSet({ paid_at: paidAt, ledger_id: ledgerId }),
    )
    .execute()
}

export async function endPurchase(tx: Tx, ledgerId: number): Promise<void> {
  await tx.deleteFrom('purchases').where('ledger_id', '=', ledgerId).execute()
}

export async function deletePurchasesBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'purchases', (row) => row('paid_at', '<', at))
}

export async function readBalance(db: Db, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('organizations')
    .select('credits')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row?.credits ?? 0
}
