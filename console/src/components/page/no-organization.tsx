import { useMutation } from '@tanstack/react-query'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { type FormEvent, useState } from 'react'
import { OrganizationList } from '../../account/organization-list.tsx'
import { switchOrganization } from '../../account/switch-organization.ts'
import { call } from '../../api/call.ts'
import { useOrganizations } from '../../api/queries.ts'
import { Field } from '../form/field.tsx'
import { ProblemNote } from './problem-note.tsx'
import { Skeleton } from './skeleton.tsx'
import { useTitle } from './use-title.ts'

/** Shown to a user who left the organization of the session, or never had one. */
export function NoOrganization() {
  const organizations = useOrganizations()
  if (organizations.isError) return <ProblemNote error={organizations.error} retry={organizations.refetch} />
  if (!organizations.data) return <Skeleton lines={4} />
  return organizations.data.length > 0 ? <ChooseOrganization /> : <CreateOrganization />
}

function ChooseOrganization() {
  useTitle('Choose an organization')
  return (
    <div className="stack">
      <h1>Choose an organization</h1>
      <p className="soft">You are no longer a member of the organization that you worked in.</p>
      <OrganizationList />
    </div>
  )
}

function CreateOrganization() {
  useTitle('No organization')
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const { id } = await call<OrganizationRecord>('POST', '/v1/organization', { name })
      await switchOrganization(id, '/getting-started')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <div className="narrow stack">
      <h1>You do not belong to an organization</h1>
      <p className="soft">
        Keys, credits and add-ons belong to organizations. Open the link of an invitation, or make an
        organization of your own.
      </p>
      <form className="stack" onSubmit={submit}>
        <Field label="Name of the organization">
          {(props) => (
            <input
              {...props}
              value={name}
              onChange={(e) => setName(e.target.value)}
              maxLength={100}
              required
            />
          )}
        </Field>
        {create.isError && <ProblemNote error={create.error} />}
        <button type="submit" className="button primary" disabled={create.isPending}>
          Create the organization
        </button>
      </form>
    </div>
  )
}
