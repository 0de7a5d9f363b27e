import type { AdminEvent } from '@wayleave/contract/records'
import type { Selectable } from 'kysely'
import type { Db } from '../database/open.ts'
import type { Tables } from '../database/schema.ts'
import { mayHaveWord } from './event-words-store.ts'

export interface EventFilter {
  /** An action such as `key.revoked`, or the first part of several, such as `key`. */
  kind?: string
  /** At or after this time. */
  since?: string
  /** Before this time. */
  until?: string
  /** What a user or key did, and what was done to it. */
  userId?: string
  keyId?: string
  organizationId?: string
  /** Candidates for a search only, see `mayHaveWord`. */
  words?: readonly string[]
  /** Events from this id on. */
  from?: number
  before?: number
  limit: number
}

/** An event without the names of its parties. */
export type StoredEvent = Omit<AdminEvent, 'actorName' | 'subjectName'>

/** The events that match, newest first. */
export async function readEvents(db: Db, filter: EventFilter): Promise<StoredEvent[]> {
  let query = db.selectFrom('events').selectAll().orderBy('id', 'desc').limit(filter.limit)
  const { kind, since, until, userId, keyId, organizationId, words = [], from, before } = filter
  if (kind !== undefined) {
    // A range instead of LIKE, because every database can use the index for it. The character after `.` is `/`.
    query = kind.includes('.')
      ? query.where('action', '=', kind)
      : query.where('action', '>=', `${kind}.`).where('action', '<', `${kind}/`)
  }
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  for (const party of [userId && `user:${userId}`, keyId && `key:${keyId}`]) {
    if (party) query = query.where((row) => row.or([row('actor', '=', party), row('subject', '=', party)]))
  }
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  for (const word of words) query = query.where((row) => mayHaveWord(row, word, organizationId))
  if (from !== undefined) query = query.where('id', '>=', from)
  if (before !== undefined) query = query.where('id', '<', before)
  return (await query.execute()).map(storedEvent)
}

/** The ids of the oldest and the newest event. */
export async function readEventIds(db: Db): Promise<{ oldest: number; newest: number }> {
  const { oldest, newest } = await db
    .selectFrom('events')
    .select(({ fn }) => [fn.min('id').as('oldest'), fn.max('id').as('newest')])
    .executeTakeFirstOrThrow()
  return { oldest: Number(oldest ?? 0), newest: Number(newest ?? 0) }
}

function storedEvent(row: Selectable<Tables['events']>): StoredEvent {
  return {
    id: row.id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
    address: row.address,
    requestId: row.request_id,
    organizationId: row.organization_id,
  }
}
