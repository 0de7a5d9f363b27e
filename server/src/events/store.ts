import type { EventRecord } from '@wayleave/contract/records'
import type { Db } from '../database/open.ts'

/** Newest first, starting before the given event. */
export async function readEvents(
  db: Db,
  organizationId: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<EventRecord[]> {
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('id', '<', before)
  const rows = await query.execute()
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
    address: row.address,
    requestId: row.request_id,
  }))
}
