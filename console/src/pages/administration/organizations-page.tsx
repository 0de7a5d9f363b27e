import { useQueryClient } from '@tanstack/react-query'
import type { AdminOrganization } from '@wayleave/contract/records'
import { useDeferredValue, useState } from 'react'
import { Link } from 'react-router'
import { AddOnsDialog, CreditsDialog } from '../../administration/organization-dialogs.tsx'
import { call } from '../../api/call.ts'
import { useAdminOrganizations } from '../../api/queries.ts'
import { addOnWords } from '../../components/add-on-badges.tsx'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { NameField } from '../../components/form/name-field.tsx'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { SearchField } from '../../components/form/search-field.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { count } from '../../words.ts'

type Open = { kind: 'add-ons' | 'credits'; organization: AdminOrganization }

export function OrganizationsPage() {
  useTitle('Organizations')
  const [search, setSearch] = useState('')
  const organizations = useAdminOrganizations(useDeferredValue(search))
  const [open, setOpen] = useState<Open | null>(null)
  const [creating, setCreating] = useState(false)
  const close = () => setOpen(null)
  return (
    <ListCard
      label="Organizations"
      filters={<SearchField search={search} onSearch={setSearch} placeholder="Name or id" />}
      action={
        <button type="button" className="button primary" onClick={() => setCreating(true)}>
          Create an organization
        </button>
      }
      query={organizations}
      keyOf={({ id }) => id}
      empty="No organization matches"
      columns={[
        {
          head: 'Name',
          kind: 'line',
          cell: ({ id, name, suspendedAt }) => (
            <>
              {suspendedAt && <span className="badge bad">Suspended</span>}{' '}
              <Link to={`/administration/organizations/${id}`} title={name}>
                {name}
              </Link>
            </>
          ),
        },
        {
          head: 'Add-ons',
          kind: 'line',
          cell: ({ addOns }) => <span className="soft">{addOnWords(addOns)}</span>,
        },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits.balance) },
        { head: 'Members', kind: 'number', cell: ({ members }) => count(members) },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (organization) => (
            <RowMenu
              of={organization.name}
              actions={[
                { label: 'Change the add-ons', onChoose: () => setOpen({ kind: 'add-ons', organization }) },
                { label: 'Change the credits', onChoose: () => setOpen({ kind: 'credits', organization }) },
              ]}
              id={organization.id}
            />
          ),
        },
      ]}
    >
      {open?.kind === 'add-ons' && <AddOnsDialog organization={open.organization} onClose={close} />}
      {open?.kind === 'credits' && <CreditsDialog organization={open.organization} onClose={close} />}
      {creating && <CreateOrganizationDialog onClose={() => setCreating(false)} />}
    </ListCard>
  )
}

function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  return (
    <ActionDialog
      title="Create an organization"
      action="Create"
      fields={['/name']}
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
