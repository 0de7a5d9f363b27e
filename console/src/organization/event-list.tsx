import type { EventRecord } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { CsvButton } from '../components/form/csv-button.tsx'
import { ListCard, type ListQuery } from '../components/list-card.tsx'
import { eventColumns, eventDay } from './event-columns.tsx'
import { EventFilterFields, type useEventFilter } from './event-filter.tsx'

/** An audit log with its filter, by day. */
export function EventList({
  state,
  query,
  kinds,
  parties,
  keys,
  csv,
  about,
}: {
  state: ReturnType<typeof useEventFilter>
  query: ListQuery<EventRecord>
  kinds: Readonly<Record<string, string>>
  parties?: readonly (readonly [id: string, name: string])[]
  /** The keys that a member can open; none for an administrator. */
  keys?: readonly string[]
  /** The path of the same list as a file. */
  csv?: string
  /** What will be listed, while there is nothing. */
  about: string
}) {
  const { filter, setFilter, isFiltered, clear, showActor } = state
  const empty: { title: string; text: ReactNode } = isFiltered
    ? {
        title: 'No event matches',
        text: (
          <button type="button" className="button" onClick={clear}>
            Clear filters
          </button>
        ),
      }
    : { title: 'Nothing has happened yet', text: <p>{about}</p> }
  return (
    <ListCard
      label="Events"
      filters={
        <EventFilterFields
          filter={filter}
          onChange={setFilter}
          onClear={isFiltered ? clear : undefined}
          kinds={kinds}
          {...(parties && { parties })}
        />
      }
      action={csv && <CsvButton path={csv} name="events.csv" />}
      query={query}
      isNamed={false}
      isLog
      keyOf={({ id }) => id}
      groupOf={eventDay}
      columns={eventColumns(showActor, keys)}
      empty={empty}
      lines={8}
    />
  )
}
