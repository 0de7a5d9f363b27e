import { useMutation } from '@tanstack/react-query'
import type { FoundKey } from '@wayleave/contract/records'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Table } from '../components/table.tsx'
import { Ago } from '../components/when.tsx'

/** Finds any key by its secret or the beginning of it, and revokes it. */
export function KeyFinder() {
  const [secret, setSecret] = useState('')
  const find = useMutation({
    mutationFn: async (revoke: boolean) =>
      (await call<{ data: FoundKey[] }>('POST', '/v1/admin/keys/find', { secret, revoke })).data,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    find.mutate(false)
  }
  const [only, another] = find.data ?? []
  const isRevocable = only && !another && (only.state === 'active' || only.state === 'expired')
  return (
    <section className="card stack" aria-label="Find a key">
      <h2>Find a leaked key</h2>
      <form className="stack-small" onSubmit={submit}>
        <Field label="Secret, or its first characters" help="It is neither stored nor logged.">
          {(props) => (
            <input
              {...props}
              required
              maxLength={200}
              autoComplete="off"
              spellCheck={false}
              className="mono"
              value={secret}
              onChange={(event) => {
                setSecret(event.target.value)
                find.reset()
              }}
            />
          )}
        </Field>
        <div>
          <button type="submit" className="button" disabled={find.isPending}>
            Find
          </button>
        </div>
      </form>
      {find.isError && <ProblemNote error={find.error} />}
      {find.data?.length === 0 && <p role="status">There is no such key.</p>}
      {find.data && find.data.length > 0 && <FoundKeys keys={find.data} />}
      {isRevocable && (
        <div>
          <button
            type="button"
            className="button primary danger"
            disabled={find.isPending}
            onClick={() => find.mutate(true)}
          >
            Revoke this key for good
          </button>
        </div>
      )}
    </section>
  )
}

function FoundKeys({ keys }: { keys: FoundKey[] }) {
  return (
    <Table
      label="Matching keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Key',
          kind: 'long',
          cell: ({ id, name }) => (
            <>
              {name ?? 'Deleted key'}
              <div className="small soft mono nowrap">{id}</div>
            </>
          ),
        },
        {
          head: 'State',
          cell: ({ state }) => (
            <span className={`badge ${state === 'active' ? 'good' : 'bad'}`}>{state}</span>
          ),
        },
        {
          head: 'Owner',
          kind: 'long',
          cell: ({ scope, userEmail, organizationName }) =>
            [userEmail, organizationName].filter(Boolean).join(', ') || (scope ?? '–'),
        },
        { head: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
      ]}
    />
  )
}
