import type { EventRecord } from '@wayleave/contract/records'
import { useEvents, useKeys, useMembers, useOrganization } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'
import { detailWords, subjectName } from '../organization/event-words.ts'

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
              <Events rows={rows} nameOf={(id) => names.get(id)} />
              <MoreButton query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Events({ rows, nameOf }: { rows: EventRecord[]; nameOf: (id: string) => string | undefined }) {
  return (
    <Table
      label="Events"
      isNamed={false}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: 'When', cell: ({ at }) => <When at={at} /> },
        { head: 'What', cell: ({ action }) => <code>{action}</code> },
        {
          head: 'To',
          kind: 'long',
          cell: (event) => (
            <>
              {subjectName(event, nameOf(event.subject))}
              <div className="small soft">{detailWords(event)}</div>
            </>
          ),
        },
        { head: 'By', cell: ({ actor }) => nameOf(actor) ?? actor },
        { head: 'From', cell: ({ address }) => <span className="soft">{address ?? '–'}</span> },
      ]}
    />
  )
}
