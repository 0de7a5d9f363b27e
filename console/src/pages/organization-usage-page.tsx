import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useKeys, useOrganization, useOrganizationUsage } from '../api/queries.ts'
import type { Count } from '../api/records.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useTitle } from '../components/use-title.ts'
import { gathered } from '../usage/gathered-keys.ts'
import { OperationTable } from '../usage/operation-table.tsx'
import { UsageByDay } from '../usage/usage-report.tsx'
import { count, lastDays } from '../words.ts'

/** What all keys of the organization used, those that exist no more included. */
export function OrganizationUsagePage() {
  useTitle('Usage')
  const organization = useOrganization()!
  const [range, setRange] = useState(() => lastDays(30, Date.now()))
  const usage = useOrganizationUsage(organization.id, range)
  const listed = new Set(useKeys().data?.map(({ id }) => id))
  return (
    <div className="stack">
      <UsageByDay usage={usage} range={range} onRange={setRange} />
      <Loaded query={usage} lines={6}>
        {({ keys, datasets, operations }) => (
          <>
            <CountTable
              title="By key"
              rows={gathered(keys, listed).map((row) => ({
                ...row,
                id: row.keyId,
                name: listed.has(row.keyId) ? <Link to={`/keys/${row.keyId}`}>{row.name}</Link> : row.name,
              }))}
            />
            <CountTable
              title="By dataset"
              rows={datasets.map((row) => ({
                ...row,
                id: row.table,
                name: row.table ? <code>{row.table}</code> : <span className="soft">The catalogue</span>,
              }))}
            />
            <section className="card flush">
              <div className="card-head">
                <h2>By operation</h2>
              </div>
              <OperationTable operations={operations} />
            </section>
          </>
        )}
      </Loaded>
    </div>
  )
}

function CountTable({ title, rows }: { title: string; rows: (Count & { id: string; name: ReactNode })[] }) {
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      {rows.length === 0 ? (
        <Empty title="No calls in these days" />
      ) : (
        <Scroll label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" className="number">
                  Calls
                </th>
                <th scope="col" className="number">
                  Credits
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, name, calls, credits }) => (
                <tr key={id}>
                  <th scope="row">{name}</th>
                  <td className="number">{count(calls)}</td>
                  <td className="number">{count(credits)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  )
}
