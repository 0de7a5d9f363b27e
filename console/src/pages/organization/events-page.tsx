import { queryText, useEvents, useKeys, useMembers, useOrganization } from '../../api/queries.ts'
import { useTitle } from '../../components/page/use-title.ts'
import { useEventFilter } from '../../organization/event-filter.tsx'
import { EventList } from '../../organization/event-list.tsx'

const kinds = {
  '': 'All',
  key: 'Keys',
  member: 'Members',
  invitation: 'Invitations',
  session: 'Sessions',
  organization: 'Organization',
  dataset: 'Datasets',
  credits: 'Credits',
  access: 'Access',
}

/** The audit log: what was done, by whom and from where. */
export function EventsPage() {
  useTitle('Events')
  const organization = useOrganization()!
  const state = useEventFilter()
  const { data: members = [] } = useMembers(organization.id)
  const { data: keys = [] } = useKeys()
  const parties = [
    ...members.map(({ userId, email }) => [userId, email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
  ]
  const { party } = state.filter
  // Somebody who left, or a deleted key, can be chosen in the list of events only.
  if (party !== '' && !parties.some(([id]) => id === party)) parties.push([party, party])
  return (
    <EventList
      state={state}
      query={useEvents(organization.id, state.query)}
      kinds={kinds}
      parties={parties}
      keys={keys.map(({ id }) => id)}
      csv={`/v1/organization/${organization.id}/events.csv?${queryText(state.query)}`}
      about="Here is who signed in, who created, changed or revoked a key, and who changed members or data."
    />
  )
}
