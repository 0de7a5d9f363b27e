import type { AdminOrganization } from '@wayleave/contract/records'
import { Link, useParams } from 'react-router'
import { OrganizationActions } from '../../administration/organization-actions.tsx'
import { useAdminKeys, useAdminMembers, useAdminOrganization, useUsage } from '../../api/queries.ts'
import { AddOnBadges } from '../../components/add-on-badges.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Ago, Day, When } from '../../components/when.tsx'
import { permissionWords } from '../../keys/key-permissions.ts'
import { KeyStatus } from '../../keys/key-status.tsx'
import { LedgerCard } from '../../organization/ledger-card.tsx'
import { Rights } from '../../organization/rights.tsx'
import { UsageByDay } from '../../usage/usage-report.tsx'
import { useUsageAddress } from '../../usage/use-usage-address.ts'
import { plural } from '../../words.ts'

/** One organization, for administrators. */
export function AdminOrganizationPage() {
  const { organizationId = '' } = useParams()
  return (
    <Loaded query={useAdminOrganization(organizationId)} lines={10}>
      {(organization) => <Organization key={organization.id} organization={organization} />}
    </Loaded>
  )
}

function Organization({ organization }: { organization: AdminOrganization }) {
  useTitle(organization.name)
  const { id, name, addOns, credits, createdAt, suspendedAt, suspendReason } = organization
  const path = `/v1/admin/organizations/${id}`
  const members = useAdminMembers(id)
  const keys = useAdminKeys(id)
  const { range, setRange } = useUsageAddress()
  const usage = useUsage(`${path}/usage`, range)
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>{name}</h1>
          <div className="row small soft">
            <span>{plural(credits.balance, 'credit')}</span>
            <AddOnBadges addOns={addOns} none={<span className="badge">No add-on</span>} />
            <span>
              since <Day at={createdAt} />
            </span>
            <span className="mono">{id}</span>
          </div>
        </div>
        <OrganizationActions organization={organization} />
      </div>
      {suspendedAt && (
        <p className="note bad">
          Suspended since <When at={suspendedAt} />: {suspendReason}
        </p>
      )}
      <ListCard
        label="Members"
        query={members}
        keyOf={({ userId }) => userId}
        empty="No members"
        lines={3}
        columns={[
          {
            head: 'Email address',
            kind: 'long',
            cell: ({ userId, email }) => <Link to={`/administration/users/${userId}`}>{email}</Link>,
          },
          {
            head: 'Role',
            cell: ({ permissions, email }) => <Rights permissions={permissions} of={email} />,
          },
          { head: 'Joined', cell: ({ joinedAt }) => <Day at={joinedAt} /> },
        ]}
      />
      <ListCard
        label="Keys"
        query={keys}
        keyOf={({ id }) => id}
        empty="No keys"
        lines={3}
        columns={[
          { head: 'Name', kind: 'long', cell: ({ name }) => name },
          { head: 'Scope', cell: ({ scope }) => (scope === 'user' ? 'Personal' : 'Organization') },
          { head: 'Status', cell: (key) => <KeyStatus record={key} /> },
          { head: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
          { head: 'Permissions', kind: 'long', cell: ({ permissions }) => permissionWords(permissions) },
          { head: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
        ]}
      />
      <UsageByDay path={`${path}/usage`} usage={usage} range={range} onRange={setRange} />
      <LedgerCard path={path} keys={keys.data ?? []} members={members.data ?? []} hasCsv={false} />
    </div>
  )
}
