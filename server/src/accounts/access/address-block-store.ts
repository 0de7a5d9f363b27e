import type { AddressBlock } from '@wayleave/contract/records'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'

/** Oldest first; includes those that have expired. */
export function listAddressBlocks(db: Db): Promise<AddressBlock[]> {
  return db
    .selectFrom('address_blocks')
    .select([
      'id',
      'network',
      'reason',
      'created_by as createdBy',
      'created_at as createdAt',
      'expires_at as expiresAt',
    ])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function insertAddressBlock(tx: Tx, block: AddressBlock): Promise<void> {
  const { id, network, reason, createdBy, createdAt, expiresAt } = block
  await tx
    .insertInto('address_blocks')
    .values({ id, network, reason, created_by: createdBy, created_at: createdAt, expires_at: expiresAt })
    .execute()
}

/** Returns whether there was such a block. */
export async function deleteAddressBlock(tx: Tx, id: string): Promise<boolean> {
  const row = await tx.deleteFrom('address_blocks').where('id', '=', id).returning('id').executeTakeFirst()
  return row !== undefined
}

export async function deleteAddressBlocksExpiredBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'address_blocks', (row) => row('expires_at', '<', at))
}
