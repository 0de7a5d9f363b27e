import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { SourceRecord } from '@wayleave/contract/records'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ReadingFields } from '../administration/reading-fields.tsx'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { optionsOfReading, readingOfOptions } from './source-reading.ts'

const FIELDS = ['/address', '/every', '/headers']

function formOf(source: SourceRecord | null) {
  const { options = {} } = source ?? {}
  return {
    address: source?.address ?? '',
    every: source ? (source.every ?? '') : '1d',
    sourceTable: String(options['sourceTable'] ?? ''),
    query: String(options['query'] ?? ''),
    header: '',
    reading: readingOfOptions(options),
  }
}

type Value = ReturnType<typeof formOf>

/** What the form changes; options that it does not show stay as they are. */
function bodyOf({ address, every, sourceTable, query, header, reading }: Value, source: SourceRecord | null) {
  const database = isDatabase(address) ? { sourceTable, query } : { sourceTable: '', query: '' }
  const options = { ...source?.options, ...optionsOfReading(reading), ...database }
  const [name, ...rest] = header.split(':')
  return {
    address: address.trim(),
    every: every.trim() === '' ? null : every.trim(),
    options: Object.fromEntries(Object.entries(options).filter(([, option]) => option !== '')),
    ...(header.trim() !== '' && { headers: { [name!.trim()]: rest.join(':').trim() } }),
  }
}

function isDatabase(address: string): boolean {
  return /^postgres(ql)?:/i.test(address.trim())
}

/** Sets or changes the source of a dataset. `children` are fields above its own. */
export function SourceForm({
  table,
  source,
  onSaved,
  onClose,
  children,
}: {
  table: string
  source: SourceRecord | null
  onSaved: () => void
  onClose: () => void
  children?: ReactNode
}) {
  const queries = useQueryClient()
  const [value, setValue] = useState(() => formOf(source))
  const save = useMutation({
    mutationFn: () => call('PUT', `/v1/dataset/${table}/source`, bodyOf(value, source)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['source', table] })
      onSaved()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const input = (name: Exclude<keyof Value, 'reading'>) => ({
    value: value[name],
    onChange: (event: { target: { value: string } }) => setValue({ ...value, [name]: event.target.value }),
  })
  const { reading } = value
  const setReading = (change: Partial<typeof reading>) =>
    setValue({ ...value, reading: { ...reading, ...change } })
  return (
    <form className="stack-small" onSubmit={submit}>
      {children}
      <Field
        label="Address"
        help="A file (https://…), an object (s3://…), a database (postgres://…), a collection of an OGC API, a WFS or an ArcGIS layer. Passwords, keys and tokens in it are stored encrypted and not shown again."
        wrong={fieldErrorOf(save.error, '/address')}
      >
        {(props) => <input {...props} {...input('address')} required spellCheck={false} autoComplete="off" />}
      </Field>
      {isDatabase(value.address) && (
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
        help="An interval (30m, 6h, 1d, 1w) or a cron expression in UTC, such as 15 3 * * *, or in a time zone: CRON_TZ=Europe/Vienna 15 3 * * *. Empty: by hand."
        wrong={fieldErrorOf(save.error, '/every')}
      >
        {(props) => <input {...props} {...input('every')} spellCheck={false} />}
      </Field>
      <Field
        label="Column of the ids"
        help="With ids, users can follow what changes from version to version."
      >
        {(props) => (
          <input
            {...props}
            value={reading.idColumn}
            onChange={(event) => setReading({ idColumn: event.target.value })}
            spellCheck={false}
          />
        )}
      </Field>
      <details>
        <summary>How it is read</summary>
        <ReadingFields value={reading} onChange={setReading} hasIds={false} />
      </details>
      {!isDatabase(value.address) && (
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
