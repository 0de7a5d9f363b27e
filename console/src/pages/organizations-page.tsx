import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useDeferredValue, useState } from 'react'
import { AddOnsDialog, CreditsDialog } from '../administration/organization-dialogs.tsx'
import { call } from '../api/call.ts'
import { useAdminOrganizations } from '../api/queries.ts'
import type { AdminOrganization } from '../api/records.ts'
import { Dialog } from '../components/dialog.tsx'
import { Empty } from '../components/empty.tsx'
import { Field } from '../components/field.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { ProblemNote } from '../components/problem-note.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useAction } from '../components/use-action.ts'
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
        <Field label="Search">
          {(props) => (
            <input
              {...props}
              type="search"
              placeholder="Name or id"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          )}
        </Field>
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
  return (
    <Scroll label="Organizations">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Add-ons</th>
            <th scope="col" className="number">
              Credits
            </th>
            <th scope="col" className="number">
              Members
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((organization) => (
            <tr key={organization.id}>
              <th scope="row">
                {organization.name}
                <div className="small soft mono">{organization.id}</div>
              </th>
              <td>
                <span className="badges">
                  {organization.addOns.map((addOn) => (
                    <span key={addOn} className="badge good">
                      {addOn}
                    </span>
                  ))}
                  {organization.addOns.length === 0 && <span className="soft">None</span>}
                </span>
              </td>
              <td className="number">{count(organization.credits.balance)}</td>
              <td className="number">{count(organization.members)}</td>
              <td className="actions">
                <button
                  type="button"
                  className="button quiet small"
                  aria-label={`Add-ons of ${organization.name}`}
                  onClick={() => onOpen('add-ons', organization)}
                >
                  Add-ons
                </button>
                <button
                  type="button"
                  className="button quiet small"
                  aria-label={`Credits of ${organization.name}`}
                  onClick={() => onOpen('credits', organization)}
                >
                  Credits
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function CreateOrganizationDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const create = useAction(async () => {
    await call('POST', '/v1/admin/organizations', { name })
    await queries.invalidateQueries({ queryKey: ['admin'] })
    onClose()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.run()
  }
  return (
    <Dialog title="Create an organization" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field
          label="Name"
          help="It begins without members: add the first at the command line with “wayleave org member”."
        >
          {(props) => (
            <input
              {...props}
              required
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        {create.error !== null && <ProblemNote error={create.error} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.running}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  )
}
