import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SourceRecord } from '@wayleave/contract/records'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'

interface Value {
  address: string
  every: string
  idColumn: string
  sourceTable: string
  query: string
  header: string
}

const FIELDS = ['/address', '/every', '/headers']

function formOf(source: SourceRecord | null): Value {
  const text = (name: string) => String(source?.options[name] ?? '')
  return {
    address: source?.address ?? '',
    every: source ? (source.every ?? '') : '1d',
    idColumn: text('idColumn'),
    sourceTable: text('sourceTable'),
    query: text('query'),
    header: '',
  }
}

/** What the form changes; options that it does not show stay as they are. */
function bodyOf(
  { address, every, idColumn, sourceTable, query, header }: Value,
  source: SourceRecord | null,
) {
  const isDatabase = /^postgres(ql)?:/i.test(address)
  const shown = { idColumn, ...(isDatabase ? { sourceTable, query } : { sourceTable: '', query: '' }) }
  const options = Object.entries({ ...source?.options, ...shown }).filter(([, option]) => option !== '')
  const [name, ...rest] = header.split(':')
  return {
    address: address.trim(),
    every: every.trim() === '' ? null : every.trim(),
    options: Object.fromEntries(options),
    ...(header.trim() !== '' && { headers: { [name!.trim()]: rest.join(':').trim() } }),
  }
}

/** Sets or changes the source of a dataset. */
export function SourceForm({
  table,
  source,
  onClose,
}: {
  table: string
  source: SourceRecord | null
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [value, setValue] = useState(() => formOf(source))
  const save = useMutation({
    mutationFn: () => call('PUT', `/v1/dataset/${table}/source`, bodyOf(value, source)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['source', table] })
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const input = (name: keyof Value) => ({
    value: value[name],
    onChange: (event: { target: { value: string } }) => setValue({ ...value, [name]: event.target.value }),
  })
  const isDatabase = /^postgres(ql)?:/i.test(value.address)
  return (
    <form className="stack-small" onSubmit={submit}>
      <Field
        label="Address"
        help="A file (https://…), an object (s3://…), a database (postgres://…), a collection of an OGC API, a WFS or an ArcGIS layer. A user name and a password in it are stored encrypted."
        wrong={fieldErrorOf(save.error, '/address')}
      >
        {(props) => <input {...props} {...input('address')} required spellCheck={false} autoComplete="off" />}
      </Field>
      {isDatabase && (
        <>
          <Field label="Table" help="As schema.table; or a query instead.">
            {(props) => <input {...props} {...input('sourceTable')} spellCheck={false} />}
          </Field>
          <Field label="Query">
            {(props) => <textarea {...props} {...input('query')} rows={3} spellCheck={false} />}
          </Field>
        </>
      )}
      <Field
        label="How often"
        help="An interval (30m, 6h, 1d, 1w) or a cron expression in UTC, such as 15 3 * * *. Empty: by hand."
        wrong={fieldErrorOf(save.error, '/every')}
      >
        {(props) => <input {...props} {...input('every')} spellCheck={false} />}
      </Field>
      <Field
        label="Column of the ids"
        help="With ids, users can follow what changes from version to version."
      >
        {(props) => <input {...props} {...input('idColumn')} spellCheck={false} />}
      </Field>
      {!isDatabase && (
        <Field
          label="Header to send"
          help={`Such as X-API-Key: …; stored encrypted.${source?.hasCredentials ? ' Empty: the one that is stored.' : ''}`}
          wrong={fieldErrorOf(save.error, '/headers')}
        >
          {(props) => <input {...props} {...input('header')} type="password" autoComplete="off" />}
        </Field>
      )}
      {save.isError && <ProblemNote error={save.error} fields={FIELDS} />}
      <div className="row">
        <button type="submit" className="button primary" disabled={save.isPending}>
          Save the source
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  )
}
