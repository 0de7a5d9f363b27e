import { useEvents, useKeys, useMembers, useOrganization } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { useTitle } from '../components/use-title.ts'
import { EventTable } from '../organization/event-table.tsx'

/** The audit log: what was done, by whom and from where. */
export function EventsPage() {
  useTitle('Events')
  const organization = useOrganization()!
  const events = useEvents(organization.id)
  const { data: members = [] } = useMembers(organization.id)
  const { data: keys = [] } = useKeys()
  const names = new Map<string, string>([
    [`organization:${organization.id}`, organization.name],
    ...members.map(({ userId, email }) => [`user:${userId}`, email] as const),
    ...keys.map(({ id, name }) => [`key:${id}`, name] as const),
  ])
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Events</h2>
      </div>
      <Loaded query={events} lines={8}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="Nothing has happened yet" />
          return (
            <>
              <EventTable rows={rows} nameOf={(id) => names.get(id)} />
              <MoreButton query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
