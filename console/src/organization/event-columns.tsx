import { actionWords } from '@wayleave/contract/action-words'
import type { EventRecord } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { useDatasets } from '../api/queries.ts'
import type { TableColumn } from '../components/table.tsx'
import { ago, moment, weekday } from '../words.ts'
import { actorId, actorWords, detailWords, isAlarming, subjectName, subjectPath } from './event-words.ts'

/** The columns of an audit log whose rows are grouped by `eventDay`. */
export function eventColumns(
  /** Shows only the events of a user or a key, if the list can be filtered. */
  onActor?: (id: string) => void,
  /** The keys that a member can open; null for an administrator. */
  keys: readonly string[] | null = null,
): TableColumn<EventRecord>[] {
  return [
    { head: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      head: 'What',
      cell: ({ action }) => (
        <span title={action} className={isAlarming(action) ? 'badge warn' : 'nowrap'}>
          {actionWords(action)}
        </span>
      ),
    },
    {
      head: 'About',
      kind: 'line',
      cell: (event) => {
        const detail = detailWords(event)
        return (
          <span title={detail}>
            <Subject event={event} keys={keys} /> <span className="small soft">{detail}</span>
          </span>
        )
      },
    },
    { head: 'By', cell: (event) => <Actor event={event} onActor={onActor} /> },
    { head: 'Address', cell: ({ address }) => <span className="soft">{address ?? '–'}</span> },
  ]
}

export function eventDay({ at }: EventRecord): string {
  return weekday(at, Date.now())
}

function Subject({ event, keys }: { event: EventRecord; keys: readonly string[] | null }) {
  const tables = useDatasets().data?.map(({ table }) => table) ?? []
  const path = subjectPath(event, { keys, tables })
  const name = subjectName(event)
  if (path === null) return <span title={event.subject}>{name}</span>
  return (
    <Link to={path} title={event.subject}>
      {name}
    </Link>
  )
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
