import { usePlatformEvents } from '../../api/queries.ts'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { eventColumns } from '../../organization/event-columns.tsx'
import { EventFilterFields, useEventFilter } from '../../organization/event-filter.tsx'

const kinds = {
  '': 'All',
  'key.refused': 'Refused keys',
  'sign-in.failed': 'Failed sign-ins',
  session: 'Sessions',
  user: 'Users',
  key: 'Keys',
  address: 'Addresses',
  organization: 'Organizations',
  access: 'Access',
  credits: 'Credits',
  member: 'Members',
  invitation: 'Invitations',
  dataset: 'Datasets',
  job: 'Jobs',
}

/** The audit log of the whole service. */
export function PlatformEventsPage() {
  useTitle('Events')
  const { filter, setFilter, query } = useEventFilter()
  const events = usePlatformEvents(query)
  return (
    <ListCard
      label="Events"
      head={<EventFilterFields filter={filter} onChange={setFilter} kinds={kinds} />}
      query={events}
      isNamed={false}
      keyOf={({ id }) => id}
      columns={eventColumns}
      empty="No event matches"
      lines={8}
    />
  )
}
