import { sql } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../../base/database/open.ts'

export interface OpenUploads {
  count: number
  bytes: number
}

/**
 * The uploads of a publisher: how many wait or run, and the bytes of their files and of those of inspections that ended
 * after a time. A job that takes the file of another one has no bytes of its own.
 */
export async function readOpenUploads(
  { kind }: Pick<ControlDatabase, 'kind'>,
  db: Db | Tx,
  { ownerId, keptSince }: { ownerId: string; keptSince: string },
): Promise<OpenUploads> {
  const isOpen = sql<boolean>`state in ('waiting', 'running')`
  const bytes =
    kind === 'postgres'
      ? sql`case when request::json ->> 'upload' is null then (request::json ->> 'uploadBytes')::bigint end`
      : sql`case when json_extract(request, '$.upload') is null then json_extract(request, '$.uploadBytes') end`
  const row = await db
    .selectFrom('jobs')
    .select([
      sql<number | string>`count(case when ${isOpen} then 1 end)`.as('count'),
      sql<number | string>`coalesce(sum(${bytes}), 0)`.as('bytes'),
    ])
    .where('kind', 'in', ['publish', 'inspect'])
    .where('owner_id', '=', ownerId)
    // Sources have no uploads.
    .where('single_key', 'is', null)
    .where((job) =>
      job.or([
        isOpen,
        job.and([job('kind', '=', 'inspect'), job('state', '=', 'done'), job('updated_at', '>', keptSince)]),
      ]),
    )
    .executeTakeFirstOrThrow()
  return { count: Number(row.count), bytes: Number(row.bytes) }
}
