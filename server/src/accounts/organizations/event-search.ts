import { ACTOR_WORDS, actionWords } from '@wayleave/contract/action-words'
import type { EventRecord } from '@wayleave/contract/records'
import type { Db } from '../../base/database/open.ts'
import { type EventFilter, readEventIds } from '../../base/events/store.ts'

/** Ids that one statement looks through: a search that finds nothing must not keep the database busy for seconds. */
const WINDOW = 50_000
/** Rows that are read at a time. */
const STEP = 200

/**
 * The events that `read` returns and whose rows say all words of a text, in any case, newest first. `read` returns what
 * the caller may see, and only that is compared: an event is never found by what is hidden from them.
 */
export async function searchEvents<Event extends EventRecord>(
  db: Db,
  text: string | undefined,
  filter: EventFilter,
  read: (filter: EventFilter) => Promise<Event[]>,
  window = WINDOW,
): Promise<Event[]> {
  const words = wordsOf(text ?? '')
  if (words.length === 0) return read(filter)
  const { oldest, newest } = await readEventIds(db)
  const found: Event[] = []
  let end = Math.min(filter.before ?? newest + 1, newest + 1)
  while (end > oldest && found.length < filter.limit) {
    const from = end - window
    for (let before = end; found.length < filter.limit; ) {
      const events = await read({ ...filter, words, from, before, limit: STEP })
      found.push(...events.filter((event) => saysAll(event, words)))
      if (events.length < STEP) break
      before = events.at(-1)!.id
    }
    end = from
  }
  return found.slice(0, filter.limit)
}

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

/** Whether each word is in the kind, the actor, the subject or the address of the event, as it is shown. */
function saysAll(event: EventRecord, words: readonly string[]): boolean {
  const { action, actor, actorName, subject, subjectName, detail, address } = event
  const parts = [
    action,
    actionWords(action),
    actor,
    actorName ?? ACTOR_WORDS[actor],
    subject,
    subjectName,
    detail['name'],
    detail['email'],
    address,
  ]
  const said = parts.filter((part) => typeof part === 'string').map((part) => part.toLowerCase())
  return words.every((word) => said.some((part) => part.includes(word)))
}
