import type { PublishingSchema } from '@wayleave/contract/records'
import type { Db, Tx } from '../../../base/database/open.ts'
import type { StoredSchema } from './stored-schema.ts'

/** What the publisher fixed about a dataset; null if nothing, or if there is no such dataset. */
export async function readSchema(db: Db, table: string): Promise<PublishingSchema | null> {
  const { fixed } = await readSchemaTexts(db, table)
  return fixed === null ? null : (JSON.parse(fixed) as PublishingSchema)
}

/** What is fixed, null if nothing, and the notes on the columns, in JSON. */
export async function readSchemaTexts(
  db: Db,
  table: string,
): Promise<{ fixed: string | null; notes: string }> {
  const row = await db
    .selectFrom('datasets')
    .select(['publishing_schema as fixed', 'column_notes as notes'])
    .where('table_name', '=', table)
    .executeTakeFirst()
  return row ?? { fixed: null, notes: '{}' }
}

/** Null removes it, and leaves the notes on the columns. */
export async function updateSchema(
  tx: Tx,
  table: string,
  schema: StoredSchema | null,
  at: string,
): Promise<void> {
  const notes = schema && { column_notes: schema.notes, updated_at: at }
  await tx
    .updateTable('datasets')
    .set({ publishing_schema: schema?.text ?? null, ...notes })
    .where('table_name', '=', table)
    .execute()
}
