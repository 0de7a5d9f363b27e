import '../styles/usage.css'
import type { OrganizationUsage } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { type DateRange, type UsageFilter, useDatasets } from '../api/queries.ts'
import { CsvButton } from '../components/form/csv-button.tsx'

/** Restricts the report of an organization to a key and a dataset, and saves its rows. */
export function UsageFilterFields({
  path,
  range,
  filter,
  whole,
  onChange,
  children,
}: {
  /** The path of the report in the API. */
  path: string
  range: DateRange
  filter: UsageFilter
  /** The report without a filter, which has the keys and datasets to choose from. */
  whole: OrganizationUsage | undefined
  onChange: (filter: UsageFilter) => void
  /** Further controls. */
  children?: ReactNode
}) {
  const titles = new Map(useDatasets().data?.map(({ table, title }) => [table, title]))
  const keys = (whole?.keys ?? []).map(({ keyId, name }): [string, string] => [keyId, name ?? keyId])
  const tables = (whole?.datasets ?? []).map(({ table }): [string, string] => [
    table,
    titles.get(table) ?? table,
  ])
  const choose = (change: UsageFilter) => onChange({ ...filter, ...change })
  return (
    <div className="usage-filter">
      <Choice
        label="Key"
        all="All keys and members"
        choices={keys}
        value={filter.keyId ?? ''}
        onChange={(keyId) => choose({ keyId })}
      />
      <Choice
        label="Dataset"
        all="All datasets"
        choices={tables}
        value={filter.table ?? ''}
        onChange={(table) => choose({ table })}
      />
      {children}
      <CsvButton path={`${path}.csv?${new URLSearchParams({ ...range, ...filter })}`} name="usage.csv" />
    </div>
  )
}

function Choice({
  label,
  all,
  choices,
  value,
  onChange,
}: {
  label: string
  all: string
  choices: [value: string, name: string][]
  value: string
  onChange: (value: string) => void
}) {
  // What a link has chosen may have no calls in this period.
  const isListed = value === '' || choices.some(([one]) => one === value)
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{all}</option>
      {!isListed && <option value={value}>{value}</option>}
      {choices.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  )
}
