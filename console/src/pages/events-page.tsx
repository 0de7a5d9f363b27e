import { useEvents, useMembers, useOrganization } from '../api/queries.ts'
import type { EventRow } from '../api/records.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'

/** What was done, by whom and from where. */
export function EventsPage() {
  useTitle('Events')
  const organization = useOrganization()!
  const events = useEvents(organization.id)
  const { data: members = [] } = useMembers(organization.id)
  const names = new Map(members.map(({ userId, email }) => [`user:${userId}`, email]))
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
              <Events rows={rows} nameOf={(id) => names.get(id) ?? id} />
              <MoreButton query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Events({ rows, nameOf }: { rows: EventRow[]; nameOf: (id: string) => string }) {
  return (
    <Scroll label="Events">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">To</th>
            <th scope="col">By</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((event) => (
            <tr key={event.id}>
              <td>
                <When at={event.at} />
              </td>
              <td>
                <code>{event.action}</code>
              </td>
              <td>
                {nameOf(event.subject)}
                {Object.keys(event.detail).length > 0 && (
                  <div className="small soft">{detailWords(event.detail)}</div>
                )}
              </td>
              <td>{nameOf(event.actor)}</td>
              <td className="soft">{event.address ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function detailWords(detail: Record<string, unknown>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
