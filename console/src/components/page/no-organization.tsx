import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/call.ts'
import { Field } from '../form/field.tsx'
import { ProblemNote } from './problem-note.tsx'
import { useTitle } from './use-title.ts'

/** Shown to a user who left their organization or never had one. */
export function NoOrganization() {
  useTitle('No organization')
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => call('POST', '/v1/organization', { name }),
    onSuccess: () => queries.invalidateQueries(),
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
