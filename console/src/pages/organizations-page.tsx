import { useQueryClient } from '@tanstack/react-query'
import type { AdminOrganization } from '@wayleave/contract/records'
import { useDeferredValue, useState } from 'react'
import { AddOnsDialog, CreditsDialog } from '../administration/organization-dialogs.tsx'
import { call } from '../api/call.ts'
import { useAdminOrganizations } from '../api/queries.ts'
import { ActionDialog } from '../components/action-dialog.tsx'
import { AddOnBadges } from '../components/add-on-badges.tsx'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { NameField } from '../components/name-field.tsx'
import { SearchField } from '../components/search-field.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { count } from '../words.ts'

type Open = { kind: 'add-ons' | 'credits'; organization: AdminOrganization }

export function OrganizationsPage() {
  useTitle('Organizations')
  const [search, setSearch] = useState('')
  const organizations = useAdminOrganizations(useDeferredValue(search))
  const [open, setOpen] = useState<Open | null>(null)
  const [creating, setCreating] = useState(false)
  const close = () => setOpen(null)
  return (
    <section className="card flush">
      <div className="card-head">
        <SearchField search={search} onSearch={setSearch} placeholder="Name or id" />
        <button type="button" className="button" onClick={() => setCreating(true)}>
          Create an organization
        </button>
      </div>
      <Loaded query={organizations} lines={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="No organization matches" />
          return (
            <>
              <Organizations rows={rows} onOpen={(kind, organization) => setOpen({ kind, organization })} />
              <MoreButton query={organizations} />
            </>
          )
        }}
      </Loaded>
      {open?.kind === 'add-ons' && <AddOnsDialog organization={open.organization} onClose={close} />}
      {open?.kind === 'credits' && <CreditsDialog organization={open.organization} onClose={close} />}
      {creating && <CreateOrganizationDialog onClose={() => setCreating(false)} />}
    </section>
  )
}

function Organizations({
  rows,
  onOpen,
}: {
  rows: AdminOrganization[]
  onOpen: (kind: Open['kind'], organization: AdminOrganization) => void
}) {
  const button = (kind: Open['kind'], label: string, organization: AdminOrganization) => (
    <button
      type="button"
      className="button quiet small"
      aria-label={`${label} of ${organization.name}`}
      onClick={() => onOpen(kind, organization)}
    >
      {label}
    </button>
  )
  return (
    <Table
      label="Organizations"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Name',
          kind: 'long',
          cell: ({ id, name }) => (
            <>
              {name}
              <div className="small soft mono nowrap">{id}</div>
            </>
          ),
        },
        {
          head: 'Add-ons',
          cell: ({ addOns }) => <AddOnBadges addOns={addOns} none={<span className="soft">None</span>} />,
        },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits.balance) },
        { head: 'Members', kind: 'number', cell: ({ members }) => count(members) },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (organization) => (
            <>
              {button('add-ons', 'Add-ons', organization)}
              {button('credits', 'Credits', organization)}
            </>
          ),
        },
      ]}
    />
  )
}

function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  return (
    <ActionDialog
      title="Create an organization"
      action="Create"
      onClose={onClose}
      onAction={async () => {
        await call('POST', '/v1/admin/organizations', { name })
        await queries.invalidateQueries({ queryKey: ['admin'] })
      }}
    >
      {(error) => (
        <NameField
          name={name}
          onChange={setName}
          help="It begins without members: add the first at the command line with “wayleave org member”."
          error={error}
        />
      )}
    </ActionDialog>
  )
}
