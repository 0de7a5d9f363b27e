import type { PublishingSchema } from '@wayleave/contract/records'
import type { Db, Tx } from '../../../base/database/open.ts'
import { withoutNotes } from './schema-of-version.ts'

/** What the publisher fixed about a dataset; null if nothing, or if there is no such dataset. */
export async function readSchema(db: Db, table: string): Promise<PublishingSchema | null> {
  const row = await db
    .selectFrom('datasets')
    .select('publishing_schema')
    .where('table_name', '=', table)
    .executeTakeFirst()
  return JSON.parse(row?.publishing_schema ?? 'null') as PublishingSchema | null
}

export async function updateSchema(tx: Tx, table: string, schema: PublishingSchema | null): Promise<void> {
  await tx
    .updateTable('datasets')
    .set({ publishing_schema: schema && schemaText(schema) })
    .where('table_name', '=', table)
    .execute()
}

export function schemaText(schema: PublishingSchema): string {
  return JSON.stringify(withoutNotes(schema))
}
