import type { UsageReport } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { useKeys, useOrganization, useOrganizationUsage } from '../../api/queries.ts'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { DatasetLink } from '../../datasets/dataset-link.tsx'
import { CountTable } from '../../usage/count-table.tsx'
import { OperationTable } from '../../usage/operation-table.tsx'
import { UsageFilterFields } from '../../usage/usage-filter-fields.tsx'
import { UsageForecast } from '../../usage/usage-forecast.tsx'
import { sumOf } from '../../usage/usage-period.ts'
import { UsageByDay } from '../../usage/usage-report.tsx'
import { useKeyParts } from '../../usage/use-key-parts.ts'
import { useUsageAddress } from '../../usage/use-usage-address.ts'

/** The usage of all keys of the organization, including deleted ones. */
export function OrganizationUsagePage() {
  useTitle('Usage')
  const organization = useOrganization()!
  const { range, setRange, filter, setFilter } = useUsageAddress()
  const usage = useOrganizationUsage(organization.id, { ...range, ...filter })
  const whole = useOrganizationUsage(organization.id, range).data
  const path = `/v1/organization/${organization.id}/usage`
  const [isSplit, setIsSplit] = useState(false)
  const canSplit = !filter.keyId && (usage.data?.keys.length ?? 0) > 1
  const parts = useKeyParts(path, { ...range, ...filter }, usage.data, isSplit && canSplit)
  const listed = new Set(useKeys().data?.map(({ id }) => id))
  return (
    <div className="stack">
      <UsageForecast organization={organization} />
      <UsageByDay path={path} usage={usage} range={range} filter={filter} parts={parts} onRange={setRange}>
        <UsageFilterFields path={path} range={range} filter={filter} whole={whole} onChange={setFilter}>
          {canSplit && (
            <label className="choice">
              <input
                type="checkbox"
                checked={isSplit}
                onChange={(event) => setIsSplit(event.target.checked)}
              />
              Split by key
            </label>
          )}
        </UsageFilterFields>
      </UsageByDay>
      <Loaded query={usage} lines={6}>
        {({ keys, members, datasets, operations }) => (
          <>
            <div className="pairs">
              <CountTable
                title="By dataset"
                rows={[
                  ...datasets.map((row) => ({
                    ...row,
                    id: row.table,
                    name: <DatasetLink table={row.table} />,
                  })),
                  ...ofNoDataset(operations),
                ]}
              />
              <CountTable
                title="By key"
                rows={keys.map((row) => ({
                  ...row,
                  id: row.keyId,
                  name: listed.has(row.keyId) ? (
                    <Link to={`/keys/${row.keyId}`}>{row.name}</Link>
                  ) : (
                    <>
                      {row.name ?? row.keyId} {row.isDeleted && <span className="badge">Deleted</span>}
                    </>
                  ),
                }))}
              />
              <CountTable
                title="In the console, by member"
                rows={members.map((row) => ({
                  ...row,
                  id: row.userId,
                  name: row.email ?? `A deleted user (${row.userId})`,
                }))}
              />
            </div>
            <OperationTable operations={operations} />
          </>
        )}
      </Loaded>
    </div>
  )
}

/** Calls such as those of the catalogue concern no single dataset. With them, the table adds up to the total. */
function ofNoDataset(operations: UsageReport['operations']) {
  const rows = operations.filter(({ table }) => table === null)
  if (rows.length === 0) return []
  return [
    {
      id: '',
      name: <span className="soft">All datasets</span>,
      calls: sumOf(rows, 'calls'),
      credits: sumOf(rows, 'credits'),
    },
  ]
}
