import type { Db, Tx } from '../../base/database/open.ts'

export interface StoredCode {
  id: string
  content: string
  expires_at: string
}

export async function insertCode(db: Db, code: StoredCode): Promise<void> {
  await db.insertInto('assistant_codes').values(code).execute()
}

export function findCode(db: Db, id: string): Promise<StoredCode | undefined> {
  return db.selectFrom('assistant_codes').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Whether the code still had this content: of two transactions with the same code, one replaces it. */
export async function replaceCode(
  tx: Tx,
  { id, content }: StoredCode,
  replacement: Omit<StoredCode, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('assistant_codes')
    .set(replacement)
    .where('id', '=', id)
    .where('content', '=', content)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function deleteCode(db: Db, { id, content }: StoredCode): Promise<void> {
  await db.deleteFrom('assistant_codes').where('id', '=', id).where('content', '=', content).execute()
}

export async function deleteCodesExpiredBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('assistant_codes').where('expires_at', '<', time.toISOString()).execute()
}
