import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { NoticeChange, NoticeSwitches } from '@wayleave/contract/records'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/call.ts'
import { fieldErrorOf } from '../../api/problem.ts'
import { useOrganization } from '../../api/queries.ts'
import { Field } from '../../components/form/field.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { useTitle } from '../../components/page/use-title.ts'

const queryKey = ['notices']

/** Which mails the user gets, and below which balance members are told. */
export function NoticesPage() {
  useTitle('Notices')
  const mayLimit = useOrganization()?.permissions.includes('BILLING_VIEW') ?? false
  const query = useQuery({ queryKey, queryFn: () => call<NoticeSwitches>('GET', '/v1/notices') })
  return (
    <Loaded query={query} lines={6}>
      {(notices) => (
        <div className="stack">
          <Switches notices={notices} />
          {mayLimit && <CreditLimit limit={notices.creditLimit} />}
        </div>
      )}
    </Loaded>
  )
}

function useChange() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (change: NoticeChange) => call<NoticeSwitches>('PATCH', '/v1/notices', change),
    onSuccess: (notices) => queries.setQueryData(queryKey, notices),
  })
}

function Switches({ notices }: { notices: NoticeSwitches }) {
  const change = useChange()
  // What was chosen is shown at once, and while it is saved.
  const [saving, setSaving] = useState<Record<string, boolean>>({})
  const set = (notice: string, on: boolean) => {
    setSaving({ [notice]: on })
    change.mutate({ switches: { [notice]: on } }, { onSettled: () => setSaving({}) })
  }
  return (
    <section className="card stack-small">
      <h2>Notices by mail</h2>
      <p className="small soft">
        To <strong>{notices.email}</strong>. Each mail has a link to get no more of its kind.
      </p>
      {notices.data.map(({ notice, meaning, on }) => (
        <label key={notice} className="choice">
          <input
            type="checkbox"
            checked={saving[notice] ?? on}
            disabled={change.isPending}
            onChange={() => set(notice, !on)}
          />
          {meaning}
        </label>
      ))}
      {change.isError && <ProblemNote error={change.error} />}
    </section>
  )
}

function CreditLimit({ limit }: { limit: number | null }) {
  const change = useChange()
  // Null until something is typed: then the limit is shown, also if it changes.
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? String(limit ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(
      { creditLimit: text.trim() === '' ? null : Number(text) },
      { onSuccess: () => setTyped(null) },
    )
  }
  return (
    <section className="card">
      <form className="stack-small" onSubmit={save}>
        <h2>Low credits</h2>
        <Field
          label="Tell members who may see credits when the balance falls below"
          help="A number of credits, for the whole organization. Empty: they are told only when the credits are used up."
          wrong={fieldErrorOf(change.error, '/creditLimit')}
        >
          {(props) => (
            <input
              {...props}
              className="short"
              type="number"
              min={1}
              step={1}
              value={text}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
        {change.isError && <ProblemNote error={change.error} fields={['/creditLimit']} />}
        <div className="row">
          <button type="submit" className="button" disabled={change.isPending}>
            Save
          </button>
          {change.isSuccess && (
            <span className="small soft" role="status">
              Saved
            </span>
          )}
        </div>
      </form>
    </section>
  )
}
