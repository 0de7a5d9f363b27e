import type { Dashboard } from '@wayleave/contract/records'
import { lazy, type ReactNode, Suspense } from 'react'
import { Link } from 'react-router'
import { MailTest } from '../../administration/mail-test.tsx'
import { useDashboard } from '../../api/queries.ts'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Table } from '../../components/table.tsx'
import { When } from '../../components/when.tsx'
import { CountTable } from '../../usage/count-table.tsx'
import { bytes, count, plural } from '../../words.ts'

const UsageChart = lazy(async () => ({ default: (await import('../../usage/usage-chart.tsx')).UsageChart }))

/** The state of the whole service. */
export function DashboardPage() {
  useTitle('Dashboard')
  return (
    <Loaded query={useDashboard()} lines={12}>
      {(dashboard) => (
        <div className="stack">
          <Figures dashboard={dashboard} />
          <section className="card flush">
            <div className="card-head">
              <h2>Requests of the last 30 days</h2>
            </div>
            <Suspense fallback={<div className="chart" />}>
              <UsageChart days={dashboard.days} />
            </Suspense>
          </section>
          <Responses responses={dashboard.responses} />
          <CountTable
            title="Top datasets"
            rows={dashboard.datasets.map((row) => ({
              ...row,
              id: row.table,
              name: row.title === null ? row.table : <Link to={`/datasets/${row.table}`}>{row.title}</Link>,
            }))}
          />
          <CountTable
            title="Top organizations"
            rows={dashboard.organizations.map((row) => ({
              ...row,
              id: row.organizationId,
              name: (
                <Link to={`/administration/organizations/${row.organizationId}`}>
                  {row.name ?? row.organizationId}
                </Link>
              ),
            }))}
          />
          <MailTest />
        </div>
      )}
    </Loaded>
  )
}

function Figures({ dashboard: { days, jobs, storage, accounts, openRequests } }: { dashboard: Dashboard }) {
  const calls = days.reduce((sum, day) => sum + day.calls, 0)
  return (
    <div className="figures">
      <Figure value={count(calls)} label="calls in 30 days" />
      <Figure
        value={count(openRequests)}
        label={<Link to="/administration/requests">open requests for access</Link>}
      />
      <Figure
        value={count(jobs.waiting + jobs.running)}
        label={
          <>
            <Link to="/administration/jobs">jobs in progress</Link>, {count(jobs.failed)} failed
          </>
        }
      />
      <Figure
        value={bytes(storage.bytes)}
        label={`${plural(storage.datasets, 'dataset')}, ${plural(storage.versions, 'version')}, ${bytes(storage.freeBytes)} free`}
      />
      <Figure
        value={count(accounts.users)}
        label={`users, ${plural(accounts.organizations, 'organization')}, ${plural(accounts.keys, 'key')}`}
      />
    </div>
  )
}

function Figure({ value, label }: { value: string; label: ReactNode }) {
  return (
    <div className="card figure">
      <strong>{value}</strong>
      <span>{label}</span>
    </div>
  )
}

function Responses({ responses }: { responses: Dashboard['responses'] }) {
  const { since, total, clientErrors, serverErrors, failingRoutes } = responses
  return (
    <section className="card stack-small">
      <h2>Errors</h2>
      <p>
        {plural(total, 'response')} of this server since <When at={since} />: {count(clientErrors)} refused
        (4xx), {count(serverErrors)} failed (5xx).
      </p>
      {failingRoutes.length > 0 && (
        <Table
          label="Failing routes"
          rows={failingRoutes}
          keyOf={({ route }) => route}
          columns={[
            { head: 'Route', kind: 'long', cell: ({ route }) => <code>{route}</code> },
            { head: 'Failures', kind: 'number', cell: (row) => count(row.count) },
          ]}
        />
      )}
    </section>
  )
}
