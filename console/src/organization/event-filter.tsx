import { useState } from 'react'
import type { RowFilter } from '../api/queries.ts'
import { Field } from '../components/form/field.tsx'
import { DateField, dayRange, SelectField } from './filter-fields.tsx'

interface EventFilter {
  kind: string
  party: string
  first: string
  last: string
}

/** The state of the filter of an audit log, and the query parameters that it means. */
export function useEventFilter() {
  const [filter, setFilter] = useState<EventFilter>({ kind: '', party: '', first: '', last: '' })
  const { kind, party, first, last } = filter
  const id = party.trim()
  const query: RowFilter = {
    kind,
    userId: /^usr_\w{1,36}$/.test(id) ? id : '',
    keyId: /^key_\w{1,36}$/.test(id) ? id : '',
    ...dayRange(first, last),
  }
  return { filter, setFilter, query }
}

export function EventFilterFields({
  filter,
  onChange,
  kinds,
  parties,
}: {
  filter: EventFilter
  onChange: (filter: EventFilter) => void
  kinds: Readonly<Record<string, string>>
  /** Users and keys to choose from; without them, an id is typed. */
  parties?: readonly (readonly [id: string, name: string])[]
}) {
  const set = (name: keyof EventFilter) => (value: string) => onChange({ ...filter, [name]: value })
  return (
    <div className="filters">
      <SelectField label="Kind" value={filter.kind} onChange={set('kind')} options={kinds} />
      {parties ? (
        <SelectField
          label="Member or key"
          value={filter.party}
          onChange={set('party')}
          options={[['', 'All'], ...parties]}
        />
      ) : (
        <Field label="User or key">
          {(props) => (
            <input
              {...props}
              type="search"
              placeholder="usr_… or key_…"
              value={filter.party}
              onChange={(event) => set('party')(event.target.value)}
            />
          )}
        </Field>
      )}
      <DateField label="From" value={filter.first} onChange={set('first')} />
      <DateField label="To" value={filter.last} onChange={set('last')} />
    </div>
  )
}
