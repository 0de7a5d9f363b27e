import { useMutation, useQueryClient } from '@tanstack/react-query'
import { DATASET_ACCESS, type DatasetAccess } from '@wayleave/contract/visibilities'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { OrganizationField, organizationIdIn } from './organization-field.tsx'
import { ACCESS_WORDS } from './visibility-words.ts'

const EMPTY = { organization: '', lastDay: '', credits: '', access: [...DATASET_ACCESS] as DatasetAccess[] }

/** Gives an organization access to a dataset, or changes what it has. */
export function GiveAccessForm({ table }: { table: string }) {
  const queries = useQueryClient()
  const [value, setValue] = useState(EMPTY)
  const give = useMutation({
    mutationFn: () =>
      call('POST', `/v1/admin/datasets/${table}/grants`, {
        organizationId: organizationIdIn(value.organization),
        expiresAt: value.lastDay === '' ? null : `${value.lastDay}T23:59:59Z`,
        credits: value.credits === '' ? null : Number(value.credits),
        access: value.access.length === DATASET_ACCESS.length ? null : value.access,
      }),
    onSuccess: () => {
      setValue(EMPTY)
      return queries.invalidateQueries({ queryKey: ['grants', table] })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    give.mutate()
  }
  const toggle = (each: DatasetAccess) =>
    setValue({
      ...value,
      access: DATASET_ACCESS.filter((one) => (one === each) !== value.access.includes(one)),
    })
  return (
    <form className="stack-small" onSubmit={submit}>
      <h3>Give an organization access</h3>
      <OrganizationField
        value={value.organization}
        onChange={(organization) => setValue({ ...value, organization })}
        wrong={fieldErrorOf(give.error, '/organizationId')}
      />
      <fieldset className="in-twos">
        <legend>They may</legend>
        {DATASET_ACCESS.map((each) => (
          <label key={each} className="choice">
            <input type="checkbox" checked={value.access.includes(each)} onChange={() => toggle(each)} />
            <span>{ACCESS_WORDS[each]}</span>
          </label>
        ))}
      </fieldset>
      <div className="in-twos">
        <Field
          label="Last day"
          help="Empty: until you end it."
          wrong={fieldErrorOf(give.error, '/expiresAt')}
        >
          {(props) => (
            <input
              {...props}
              type="date"
              value={value.lastDay}
              onChange={(event) => setValue({ ...value, lastDay: event.target.value })}
            />
          )}
        </Field>
        <Field label="What a download costs them, in credits" help="Empty: the price of the dataset.">
          {(props) => (
            <input
              {...props}
              type="number"
              min={0}
              max={1_000_000}
              value={value.credits}
              onChange={(event) => setValue({ ...value, credits: event.target.value })}
            />
          )}
        </Field>
      </div>
      {give.isError && <ProblemNote error={give.error} fields={['/organizationId', '/expiresAt']} />}
      <div>
        <button
          type="submit"
          className="button primary"
          disabled={give.isPending || value.access.length === 0}
        >
          Give access
        </button>
      </div>
    </form>
  )
}
