import { useState } from 'react'
import { usePlatformEvents } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Field } from '../components/field.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { useTitle } from '../components/use-title.ts'
import { EventTable } from '../organization/event-table.tsx'

const kinds: Record<string, string> = {
  '': 'All',
  'key.refused': 'Refused keys',
  'sign-in.failed': 'Failed sign-ins',
  session: 'Sessions',
  user: 'Users',
  key: 'Keys',
  address: 'Addresses',
  organization: 'Organizations',
  member: 'Members',
  invitation: 'Invitations',
  dataset: 'Datasets',
  job: 'Jobs',
}

/** The audit log of the whole service. */
export function PlatformEventsPage() {
  useTitle('Events')
  const [kind, setKind] = useState('')
  const [party, setParty] = useState('')
  const [since, setSince] = useState('')
  const events = usePlatformEvents(filterOf({ kind, party, since }))
  return (
    <section className="card flush">
      <div className="card-head">
        <Field label="Kind">
          {(props) => (
            <select {...props} value={kind} onChange={(event) => setKind(event.target.value)}>
              {Object.entries(kinds).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="User or key">
          {(props) => (
            <input
              {...props}
              type="search"
              placeholder="usr_… or key_…"
              value={party}
              onChange={(event) => setParty(event.target.value)}
            />
          )}
        </Field>
        <Field label="Since">
          {(props) => (
            <input {...props} type="date" value={since} onChange={(event) => setSince(event.target.value)} />
          )}
        </Field>
      </div>
      <Loaded query={events} lines={8}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="No event matches" />
          return (
            <>
              <EventTable rows={rows} />
              <MoreButton query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function filterOf({ kind, party, since }: { kind: string; party: string; since: string }) {
  const id = party.trim()
  return {
    ...(kind && { kind }),
    ...(/^usr_\w{1,36}$/.test(id) && { userId: id }),
    ...(/^key_\w{1,36}$/.test(id) && { keyId: id }),
    ...(since && { since: `${since}T00:00:00Z` }),
  }
}
