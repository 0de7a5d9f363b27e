import type { Dashboard } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { MailTest } from '../../administration/mail-test.tsx'
import { useDashboard } from '../../api/queries.ts'
import { Empty } from '../../components/page/empty.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Table } from '../../components/table.tsx'
import { When } from '../../components/when.tsx'
import { CountTable } from '../../usage/count-table.tsx'
import { DaysAsText, UsageDays } from '../../usage/usage-days.tsx'
import { sumOf } from '../../usage/usage-period.ts'
import { bytes, count, plural } from '../../words.ts'

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
            <Calls dashboard={dashboard} />
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

function Calls({ dashboard: { days, daysBefore } }: { dashboard: Dashboard }) {
  if (sumOf(days, 'calls') + sumOf(daysBefore, 'calls') === 0)
    return (
      <Empty title="No calls yet">
        <p>
          Calls of all organizations and platform keys are counted here, a few seconds after they were made.
        </p>
      </Empty>
    )
  return (
    <>
      <UsageDays days={days} before={daysBefore} />
      <p className="padded small soft">
        All organizations and platform keys.
        <DaysAsText days={days} />
      </p>
    </>
  )
}

/** What waits for somebody comes first, then what there is. */
function Figures({ dashboard: { jobs, storage, accounts, openRequests } }: { dashboard: Dashboard }) {
  return (
    <div className="figures">
      <Figure
        value={openRequests === 0 ? null : count(openRequests)}
        isUrgent={openRequests > 0}
        label={
          <Link to="/administration/requests">
            {openRequests === 1 ? 'open request' : 'open requests'} for access
          </Link>
        }
      />
      <JobsFigure jobs={jobs} />
      <Figure
        value={bytes(storage.bytes)}
        label={`${plural(storage.datasets, 'dataset')}, ${plural(storage.versions, 'version')}, ${bytes(storage.freeBytes)} free`}
      />
      <Figure
        value={count(accounts.users)}
        label={`${accounts.users === 1 ? 'user' : 'users'}, ${plural(accounts.organizations, 'organization')}, ${plural(accounts.keys, 'key')}`}
      />
    </div>
  )
}

/** Failed jobs come first: those in progress end by themselves. */
function JobsFigure({ jobs: { waiting, running, failed } }: Pick<Dashboard, 'jobs'>) {
  const ahead = waiting + running
  const link = (words: string) => <Link to="/administration/jobs">{words}</Link>
  if (failed > 0)
    return (
      <Figure
        value={count(failed)}
        isUrgent
        label={
          <>
            {link(failed === 1 ? 'failed job' : 'failed jobs')}, {ahead === 0 ? 'none' : count(ahead)} in
            progress
          </>
        }
      />
    )
  return (
    <Figure
      value={ahead === 0 ? null : count(ahead)}
      label={<>{link(ahead === 1 ? 'job' : 'jobs')} in progress, none failed</>}
    />
  )
}

function Figure({
  value,
  label,
  isUrgent = false,
}: {
  /** Null if there is none, which is not as large as a number. */
  value: string | null
  label: ReactNode
  isUrgent?: boolean
}) {
  return (
    <div className={`card figure${isUrgent ? ' urgent' : ''}`}>
      {value === null ? <strong className="none">None</strong> : <strong>{value}</strong>}
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
        (status 4xx), {count(serverErrors)} failed (status 5xx). {serverErrors === 0 && 'Nothing has failed.'}
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
