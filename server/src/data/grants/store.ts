import type { DatasetGrantRecord } from '@wayleave/contract/records'
import type { DatasetAccess } from '@wayleave/contract/visibilities'
import type { Db, Tx } from '../../base/database/open.ts'

export interface StoredGrant extends Omit<DatasetGrantRecord, 'organizationName'> {
  access: DatasetAccess[] | null
}

/** The grants on a dataset, oldest first, also those that have expired. */
export async function readGrants(db: Db, table: string): Promise<DatasetGrantRecord[]> {
  const rows = await db
    .selectFrom('dataset_grants')
    .innerJoin('organizations', 'organizations.id', 'dataset_grants.organization_id')
    .selectAll('dataset_grants')
    .select('organizations.name')
    .where('table_name', '=', table)
    .orderBy('dataset_grants.created_at')
    .orderBy('dataset_grants.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    table: row.table_name,
    organizationId: row.organization_id,
    organizationName: row.name,
    access: row.access === null ? null : (JSON.parse(row.access) as DatasetAccess[]),
    credits: row.credits,
    expiresAt: row.expires_at,
    createdBy: row.created_by,
    createdAt: row.created_at,
  }))
}

/** An organization has one grant on a dataset: a second one replaces the first and keeps its id. */
export async function putGrant(tx: Tx, grant: StoredGrant): Promise<void> {
  const values = {
    access: grant.access === null ? null : JSON.stringify(grant.access),
    credits: grant.credits,
    expires_at: grant.expiresAt,
    created_by: grant.createdBy,
    created_at: grant.createdAt,
  }
  await tx
    .insertInto('dataset_grants')
    .values({ id: grant.id, table_name: grant.table, organization_id: grant.organizationId, ...values })
    .onConflict((row) => row.columns(['table_name', 'organization_id']).doUpdateSet(values))
    .execute()
}

/** Returns whether there was such a grant. */
export async function deleteGrant(tx: Tx, id: string): Promise<boolean> {
  const row = await tx.deleteFrom('dataset_grants').where('id', '=', id).returning('id').executeTakeFirst()
  return row !== undefined
}

/** The organizations that have grants on a dataset. */
export async function readGrantees(db: Db, table: string): Promise<string[]> {
  const rows = await db
    .selectFrom('dataset_grants')
    .select('organization_id')
    .where('table_name', '=', table)
    .execute()
  return rows.map((row) => row.organization_id)
}
