import { ACTOR_WORDS, actionWords } from '@wayleave/contract/action-words'
import type { EventRecord } from '@wayleave/contract/records'
import { Semaphore } from '../../base/concurrency/semaphore.ts'
import type { Db } from '../../base/database/open.ts'
import { type EventFilter, readEventId } from '../../base/events/store.ts'

/** Events that one statement looks through: other reads of the database may wait for it. */
const WINDOW = 2000
/** Rows that are read at a time. */
const STEP = 200
/** Words that the database compares. */
const CANDIDATE_WORDS = 8

/** The statements of all searches take turns, and have one connection to the database among them. */
const turns = new Semaphore(1)

export interface EventSearch<Event> {
  db: Db
  text: string | undefined
  filter: EventFilter
  /** Returns what the caller may see, and only that is compared: an event is never found by what is hidden from them. */
  read: (filter: EventFilter) => Promise<Event[]>
  /** Whether nobody waits for the result any more. */
  hasLeft?: () => boolean
  window?: number
}

/** The events whose rows say all words of a text, in any case, newest first. */
export async function searchEvents<Event extends EventRecord>({
  db,
  text,
  filter,
  read,
  hasLeft = () => false,
  window = WINDOW,
}: EventSearch<Event>): Promise<Event[]> {
  const all = wordsOf(text ?? '')
  if (all.length === 0) return read(filter)
  const words = all.slice(0, CANDIDATE_WORDS)
  const found: Event[] = []
  const isDone = () => found.length >= filter.limit || hasLeft()
  for (let end = filter.before; !isDone(); ) {
    const from = await turns.run(() => readEventId(db, { ...filter, before: end }, window))
    for (let before = end; !isDone(); ) {
      const part = { ...filter, words, from, before, limit: STEP }
      const events = await turns.run(() => read(part))
      found.push(...events.filter((event) => saysAll(event, all)))
      if (events.length < STEP) break
      before = events.at(-1)!.id
    }
    if (from === undefined) break
    end = from
  }
  return found.slice(0, filter.limit)
}

/** The longest first, which fewest events have. */
function wordsOf(text: string): string[] {
  const words = new Set(text.toLowerCase().split(/\s+/))
  return [...words].filter((word) => word !== '').sort((a, b) => b.length - a.length)
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
