import { actionWords } from '@wayleave/contract/action-words'
import type { EventRecord } from '@wayleave/contract/records'
import type { TableColumn } from '../components/table.tsx'
import { ago, moment, weekday } from '../words.ts'
import { actorId, actorWords, detailWords, isAlarming, subjectName } from './event-words.ts'

/** The columns of an audit log whose rows are grouped by `eventDay`. */
export function eventColumns(
  /** Shows only the events of a user or a key, if the list can be filtered. */
  onActor?: (id: string) => void,
): TableColumn<EventRecord>[] {
  return [
    { head: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      head: 'What',
      cell: ({ action }) => (
        <span title={action} className={isAlarming(action) ? 'badge warn' : undefined}>
          {actionWords(action)}
        </span>
      ),
    },
    {
      head: 'About',
      kind: 'long',
      cell: (event) => (
        <>
          <span title={event.subject}>{subjectName(event)}</span>
          <div className="small soft">{detailWords(event)}</div>
        </>
      ),
    },
    { head: 'By', cell: (event) => <Actor event={event} onActor={onActor} /> },
    { head: 'Address', cell: ({ address }) => <span className="soft">{address ?? '–'}</span> },
  ]
}

export function eventDay({ at }: EventRecord): string {
  return weekday(at, Date.now())
}

/** The time of day in UTC: the date is above. */
function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${moment(at)}, ${ago(at, Date.now())}`} className="nowrap">
      {new Date(at).toISOString().slice(11, 16)}
    </time>
  )
}

function Actor({ event, onActor }: { event: EventRecord; onActor: ((id: string) => void) | undefined }) {
  const name = actorWords(event)
  const id = actorId(event)
  if (id === null || !onActor) return <span className="one-line">{name}</span>
  return (
    <button
      type="button"
      className="link one-line"
      title="Show only what they did"
      aria-label={`${name}: show only what they did`}
      onClick={() => onActor(id)}
    >
      {name}
    </button>
  )
}
