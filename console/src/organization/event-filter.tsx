import type { RowFilter } from '../api/queries.ts'
import { Field } from '../components/form/field.tsx'
import { SearchField } from '../components/form/search-field.tsx'
import { useParameters } from '../components/page/use-parameters.ts'
import { useSettled } from '../components/use-settled.ts'
import { DateField, dayRange, SelectField } from './filter-fields.tsx'

const NAMES = ['q', 'kind', 'party', 'first', 'last'] as const
/** As long as a search may be. */
const MAX_SEARCH = 100
const SETTLE_MS = 300

export type EventFilter = Record<(typeof NAMES)[number], string>

/** The filter of an audit log, which the address has, and the query parameters that it means. */
export function useEventFilter() {
  const [parameters, setParameters] = useParameters()
  const filter = Object.fromEntries(NAMES.map((name) => [name, parameters.get(name) ?? ''])) as EventFilter
  const setFilter = (changed: EventFilter) => {
    const filled = Object.entries(changed).filter(([, value]) => value !== '')
    setParameters(() => new URLSearchParams(filled))
  }
  const { kind, party, first, last } = filter
  // The field and the address follow each letter; the service is asked when typing pauses.
  const q = useSettled(filter.q.slice(0, MAX_SEARCH).replaceAll('\0', ''), SETTLE_MS)
  const id = party.trim()
  const query: RowFilter = {
    q,
    kind,
    userId: /^usr_\w{1,36}$/.test(id) ? id : '',
    keyId: /^key_\w{1,36}$/.test(id) ? id : '',
    ...dayRange(dateOf(first), dateOf(last)),
  }
  return {
    filter,
    setFilter,
    query,
    isFiltered: NAMES.some((name) => filter[name] !== ''),
    clear: () => setParameters(() => new URLSearchParams()),
    showActor: (id: string) => setFilter({ ...filter, party: id }),
  }
}

/** An address may have anything. */
function dateOf(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''
}

export function EventFilterFields({
  filter,
  onChange,
  onClear,
  kinds,
  parties,
}: {
  filter: EventFilter
  onChange: (filter: EventFilter) => void
  /** Undefined if there is nothing to clear. */
  onClear: (() => void) | undefined
  kinds: Readonly<Record<string, string>>
  /** Users and keys to choose from; without them, an id is typed. */
  parties?: readonly (readonly [id: string, name: string])[]
}) {
  const set = (name: keyof EventFilter) => (value: string) => onChange({ ...filter, [name]: value })
  return (
    <>
      <SearchField
        search={filter.q}
        onSearch={set('q')}
        placeholder="Kind, name or id"
        maxLength={MAX_SEARCH}
      />
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
              placeholder="An id"
              value={filter.party}
              onChange={(event) => set('party')(event.target.value)}
            />
          )}
        </Field>
      )}
      <DateField label="From" value={filter.first} onChange={set('first')} />
      <DateField label="To" value={filter.last} onChange={set('last')} />
      {onClear && (
        <button type="button" className="button quiet" onClick={onClear}>
          Clear filters
        </button>
      )}
    </>
  )
}
