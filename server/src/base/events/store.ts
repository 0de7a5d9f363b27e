import type { AdminEvent } from '@wayleave/contract/records'
import type { Selectable } from 'kysely'
import type { Db } from '../database/open.ts'
import type { Tables } from '../database/schema.ts'
import { mayHaveWord, saidByRow } from './event-words-store.ts'

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
  /** Only events that may have all of these, see `mayHaveWord`. The other conditions should select few. */
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
  const matching =
    filter.words === undefined ? selectEvents(db, filter) : selectWithWords(db, filter, filter.words)
  const query = matching.selectAll().orderBy('id', 'desc').limit(filter.limit)
  return (await query.execute()).map(storedEvent)
}

function selectWithWords(db: Db, filter: EventFilter, words: readonly string[]) {
  let query = db
    // Otherwise what an event says would be put together for each word.
    .with(
      (name) => name('said_events').materialized(),
      () => selectEvents(db, filter).selectAll().select(saidByRow().as('said')),
    )
    .selectFrom('said_events as events')
  for (const word of words) query = query.where((row) => mayHaveWord(row, word, filter.organizationId))
  return query
}

/** The id of the last one of so many events that match, newest first; undefined if there are fewer. */
export async function readEventId(db: Db, filter: EventFilter, count: number): Promise<number | undefined> {
  const query = selectEvents(db, filter).select('id').orderBy('id', 'desc')
  const row = await query
    .offset(count - 1)
    .limit(1)
    .executeTakeFirst()
  return row && Number(row.id)
}

function selectEvents(db: Db, filter: EventFilter) {
  let query = db.selectFrom('events')
  const { kind, since, until, userId, keyId, organizationId, from, before } = filter
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
  if (from !== undefined) query = query.where('id', '>=', from)
  if (before !== undefined) query = query.where('id', '<', before)
  return query
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
