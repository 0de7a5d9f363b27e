import { sql } from 'kysely'
import { REFUSAL_ACTIONS } from '../../accounts/access/refusals.ts'
import type { Db } from '../../base/database/open.ts'

/** Rows that are old enough to be deleted. */
export interface OldRows {
  count(before: string): Promise<number>
  /** Deletes up to `limit` rows, the oldest first, and returns how many were deleted. */
  deleteSome(before: string, limit: number): Promise<number>
}

/** Ids increase with time, so only the oldest rows are checked: no index on the time is needed. */
export function oldEvents(db: Db): OldRows {
  return {
    count: (before) => countOf(db.selectFrom('events').where('at', '<', before).select(countAll)),
    async deleteSome(before, limit) {
      const oldest = db.selectFrom('events').select(['id', 'at']).orderBy('id').limit(limit).as('oldest')
      const old = await db.selectFrom(oldest).select('id').where('at', '<', before).execute()
      if (old.length === 0) return 0
      const { numDeletedRows } = await db
        .deleteFrom('events')
        .where('id', '<=', Math.max(...old.map(({ id }) => id)))
        .where('at', '<', before)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** Events of refused keys and failed sign-ins. */
export function oldRefusals(db: Db): OldRows {
  const old = (before: string) =>
    db.selectFrom('events').where('action', 'in', REFUSAL_ACTIONS).where('at', '<', before)
  return {
    count: (before) => countOf(old(before).select(countAll)),
    async deleteSome(before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom('events')
        .where('id', 'in', old(before).select('id').orderBy('id').limit(limit))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** `before` is compared as a date: a day is deleted as a whole. */
export function oldUsage(db: Db): OldRows {
  const columns = ['key_id', 'date', 'operation', 'table_name', 'format'] as const
  return {
    count: (before) =>
      countOf(db.selectFrom('usage').where('date', '<', before.slice(0, 10)).select(countAll)),
    async deleteSome(before, limit) {
      const rows = await db
        .selectFrom('usage')
        .select([...columns])
        .where('date', '<', before.slice(0, 10))
        .orderBy('date')
        .limit(Math.min(limit, MAX_PARAMETERS / columns.length))
        .execute()
      if (rows.length === 0) return 0
      const { numDeletedRows } = await db
        .deleteFrom('usage')
        .where(
          ({ refTuple, tuple }) =>
            sql<boolean>`${refTuple(...columns)} in (values ${sql.join(
              rows.map((row) => tuple(row.key_id, row.date, row.operation, row.table_name, row.format)),
            )})`,
        )
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** Keys that were revoked, or that expired, before the given time. Neither can become valid by itself. */
export function deadKeys(db: Db): OldRows {
  const dead = (before: string) =>
    db
      .selectFrom('api_keys')
      .where('kind', '=', 'key')
      .where((key) => key.or([key('revoked_at', '<', before), key('expires_at', '<', before)]))
  return {
    count: (before) => countOf(dead(before).select(countAll)),
    async deleteSome(before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom('api_keys')
        .where('id', 'in', dead(before).select('id').limit(limit))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

export function oldRevocations(db: Db): OldRows {
  const old = (before: string) => db.selectFrom('revoked_secrets').where('at', '<', before)
  return {
    count: (before) => countOf(old(before).select(countAll)),
    async deleteSome(before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom('revoked_secrets')
        .where('secret_hash', 'in', old(before).select('secret_hash').limit(limit))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** Invitations that were accepted, or that expired, before the given time. */
export function oldInvitations(db: Db): OldRows {
  const old = (before: string) =>
    db
      .selectFrom('invitations')
      .where((row) => row.or([row('accepted_at', '<', before), row('expires_at', '<', before)]))
  return {
    count: (before) => countOf(old(before).select(countAll)),
    async deleteSome(before, limit) {
      const { numDeletedRows } = await db
        .deleteFrom('invitations')
        .where('id', 'in', old(before).select('id').limit(limit))
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

/** SQLite allows 32,766 parameters per statement. */
const MAX_PARAMETERS = 30_000

const countAll = sql<number>`count(*)`.as('count')

async function countOf(query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }): Promise<number> {
  return Number((await query.executeTakeFirstOrThrow()).count)
}
