import type { Db, Tx } from '../../base/database/open.ts'

export interface StoredCode {
  id: string
  content: string
  expires_at: string
}

export async function insertCode(db: Db, code: StoredCode): Promise<void> {
  await db.insertInto('assistant_codes').values(code).execute()
}

/** Deletes a code and returns it: of two requests with the same code only one gets it. */
export function takeCode(db: Db | Tx, id: string): Promise<StoredCode | undefined> {
  return db.deleteFrom('assistant_codes').where('id', '=', id).returningAll().executeTakeFirst()
}

export async function deleteCodesExpiredBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('assistant_codes').where('expires_at', '<', time.toISOString()).execute()
}
