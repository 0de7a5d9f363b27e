import type { AdminEvent } from '@wayleave/contract/records'
import type { Db } from '../../base/database/open.ts'
import { type EventFilter, readEvents } from '../../base/events/store.ts'
import { readPartyNames } from '../keys/party-name-store.ts'

/** Events with the names of the users, keys and organizations that they are about, newest first. */
export async function readNamedEvents(db: Db, filter: EventFilter): Promise<AdminEvent[]> {
  const events = await readEvents(db, filter)
  const names = await readPartyNames(
    db,
    events.flatMap(({ actor, subject }) => [actor, subject]),
  )
  return events.map(({ id, at, actor, action, subject, ...event }) => ({
    id,
    at,
    actor,
    actorName: names.get(actor) ?? null,
    action,
    subject,
    subjectName: names.get(subject) ?? null,
    ...event,
  }))
}
