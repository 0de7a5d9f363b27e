import { usePlatformEvents } from '../../api/queries.ts'
import { useTitle } from '../../components/page/use-title.ts'
import { useEventFilter } from '../../organization/event-filter.tsx'
import { EventList } from '../../organization/event-list.tsx'

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
  source: 'Sources',
  webhook: 'Webhooks',
  job: 'Jobs',
}

/** The audit log of the whole service. */
export function PlatformEventsPage() {
  useTitle('Events')
  const state = useEventFilter()
  return (
    <EventList
      state={state}
      query={usePlatformEvents(state.query)}
      kinds={kinds}
      about="Here is what everybody does with accounts, keys, credits and data, and what is refused."
    />
  )
}
