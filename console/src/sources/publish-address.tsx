import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { publishWords } from '../administration/publish-words.ts'
import { Field } from '../components/form/field.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { SourceForm } from './source-form.tsx'
import { useRunSource, useSource } from './use-source.ts'

/** Publishes what is at an address: the dataset gets a source, which is run once at once. */
export function PublishAddress() {
  const [step, setStep] = useState<'closed' | 'form' | 'run'>('closed')
  const [table, setTable] = useState('')
  // Only after it was set: the form is for a new one.
  const source = useSource(table, step === 'run')
  const close = () => setStep('closed')
  return (
    <section className="card stack" aria-labelledby="from-address">
      <h2 id="from-address">From an address</h2>
      {step === 'closed' && (
        <>
          <p className="soft">
            A file on the web, a bucket, a database, or another service: the service reads it now and, if you
            like, again and again.
          </p>
          <div>
            <button type="button" className="button" onClick={() => setStep('form')}>
              Publish from an address
            </button>
          </div>
        </>
      )}
      {step === 'form' && (
        <SourceForm table={table} source={source.data ?? null} onSaved={() => setStep('run')} onClose={close}>
          <Field
            label="Name of the dataset"
            help="In addresses: lower-case letters, digits and _, a letter first."
          >
            {(props) => (
              <input
                {...props}
                required
                pattern="[a-z][a-z0-9_]{0,62}"
                title="Lower-case letters, digits and _, a letter first, at most 63 characters"
                value={table}
                onChange={(event) => setTable(event.target.value)}
                spellCheck={false}
              />
            )}
          </Field>
        </SourceForm>
      )}
      {step === 'run' && <FirstRun table={table} onChange={() => setStep('form')} onAnother={close} />}
    </section>
  )
}

function FirstRun({
  table,
  onChange,
  onAnother,
}: {
  table: string
  onChange: () => void
  onAnother: () => void
}) {
  const { mutate, data: job, isPending, isError, error } = useRunSource(table)
  useEffect(() => mutate(), [mutate])
  const isPublished = job?.state === 'done'
  const problem = job?.state === 'failed' ? (job.problem?.detail ?? 'It could not be published.') : null
  return (
    <div className="stack-small">
      <p className={isPublished ? 'note good' : 'soft'} role="status">
        {isPending && `Reading the address, and publishing it as ${table}…`}
        {isPublished && `Published ${table}.`}
      </p>
      {problem !== null && (
        <div className="note bad" role="alert">
          <p>{publishWords(problem)}</p>
        </div>
      )}
      {isError && <ProblemNote error={error} />}
      <div className="row">
        {isPublished && (
          <Link className="button primary" to={`/datasets/${table}`}>
            See the dataset
          </Link>
        )}
        {!isPending && !isPublished && (
          <button type="button" className="button primary" onClick={onChange}>
            Change the source
          </button>
        )}
        {!isPending && (
          <button type="button" className="button" onClick={onAnother}>
            {isPublished ? 'Publish another' : 'Leave it'}
          </button>
        )}
      </div>
    </div>
  )
}
