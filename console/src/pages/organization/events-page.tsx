import { queryText, useEvents, useKeys, useMembers, useOrganization } from '../../api/queries.ts'
import { CsvButton } from '../../components/form/csv-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { eventColumns } from '../../organization/event-columns.tsx'
import { EventFilterFields, useEventFilter } from '../../organization/event-filter.tsx'

const kinds = {
  '': 'All',
  key: 'Keys',
  member: 'Members',
  invitation: 'Invitations',
  session: 'Sessions',
  organization: 'Organization',
  credits: 'Credits',
  access: 'Access',
}

/** The audit log: what was done, by whom and from where. */
export function EventsPage() {
  useTitle('Events')
  const organization = useOrganization()!
  const { filter, setFilter, query } = useEventFilter()
  const events = useEvents(organization.id, query)
  const { data: members = [] } = useMembers(organization.id)
  const { data: keys = [] } = useKeys()
  const parties = [
    ...members.map(({ userId, email }) => [userId, email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
  ]
  const path = `/v1/organization/${organization.id}/events.csv?${queryText(query)}`
  return (
    <ListCard
      label="Events"
      head={
        <>
          <EventFilterFields filter={filter} onChange={setFilter} kinds={kinds} parties={parties} />
          <CsvButton path={path} name="events.csv" />
        </>
      }
      query={events}
      isNamed={false}
      keyOf={({ id }) => id}
      columns={eventColumns}
      empty="No event matches"
      lines={8}
    />
  )
}
