import { useQueryClient } from '@tanstack/react-query'
import { isJobEnded } from '@wayleave/contract/records'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { CancelJobDialog } from '../../administration/cancel-job-dialog.tsx'
import { DescriptionFields } from '../../administration/description-fields.tsx'
import { NO_DESCRIPTION } from '../../administration/description-form.ts'
import { FileDrop } from '../../administration/file-drop.tsx'
import { PublishOutcome } from '../../administration/publish-outcome.tsx'
import { noReadingChoices, ReadingFields } from '../../administration/reading-fields.tsx'
import { tableNameOf } from '../../administration/table-name.ts'
import { upload } from '../../administration/upload.ts'
import { useDatasets, useJob } from '../../api/queries.ts'
import { Field } from '../../components/form/field.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { bytes } from '../../words.ts'

type Sending = { kind: 'idle' } | { kind: 'sending'; sent: number } | { kind: 'failed'; error: unknown }

/** The form to publish a file: drag and drop, description, progress, and the report. */
export function PublishPage() {
  useTitle('Publish')
  const queries = useQueryClient()
  const { data: datasets = [] } = useDatasets()
  const [file, setFile] = useState<File | null>(null)
  const [table, setTable] = useState('')
  const [said, setSaid] = useState(NO_DESCRIPTION)
  const [note, setNote] = useState('')
  const [reading, setReading] = useState(noReadingChoices)
  const [sending, setSending] = useState<Sending>({ kind: 'idle' })
  const stopping = useRef<AbortController>(null)
  const [jobId, setJobId] = useState<string | null>(null)
  const job = useJob(jobId)
  const [isCancelling, setIsCancelling] = useState(false)
  const exists = datasets.find((dataset) => dataset.table === table)

  const state = job.data?.state
  useEffect(() => {
    if (state === 'done') queries.invalidateQueries({ queryKey: ['datasets'] })
  }, [state, queries])

  // The button is at the end of a long form, and the outcome beside its beginning or, on phones, below it.
  const outcome = useRef<HTMLElement>(null)
  useEffect(() => {
    if (sending.kind !== 'idle' || state) outcome.current!.scrollIntoView({ block: 'nearest' })
  }, [sending.kind, state])

  const choose = (chosen: File) => {
    setFile(chosen)
    setTable((typed) => typed || tableNameOf(chosen.name))
    setJobId(null)
    setSending({ kind: 'idle' })
  }
  const publish = async (event: FormEvent) => {
    event.preventDefault()
    if (!file?.size) return
    setJobId(null)
    setSending({ kind: 'sending', sent: 0 })
    stopping.current = new AbortController()
    const { signal } = stopping.current
    const { skipInvalid, isTable, ...texts } = reading
    const fields = Object.entries({ ...said, ...texts, note }).filter(([, value]) => value.trim() !== '')
    const options = {
      ...Object.fromEntries(fields),
      ...(skipInvalid && { skipInvalid: 'true' }),
      ...(isTable && { geometry: 'false' }),
    }
    try {
      const onProgress = (sent: number) => setSending({ kind: 'sending', sent })
      const started = await upload(table, file, options, onProgress, signal)
      setJobId(started.id)
      setSending({ kind: 'idle' })
    } catch (error) {
      setSending(signal.aborted ? { kind: 'idle' } : { kind: 'failed', error })
    }
  }
  const busy = sending.kind === 'sending' || state === 'waiting' || state === 'running'
  return (
    <>
      <form className="columns" onSubmit={publish}>
        <section className="card stack">
          <FileDrop file={file} onFile={choose} />
          <Field
            label="Table"
            help={
              exists
                ? `${table} exists: the file becomes its version after ${exists.version}, and what you leave empty below stays.`
                : 'The name in addresses: lower-case letters, digits and _, a letter first.'
            }
          >
            {(props) => (
              <input
                {...props}
                required
                pattern="[a-z][a-z0-9_]{0,62}"
                title="Lower-case letters, digits and _, a letter first, at most 63 characters"
                value={table}
                onChange={(event) => setTable(event.target.value)}
              />
            )}
          </Field>
          {exists && (
            <Field label="What is new in this version">
              {(props) => (
                <input
                  {...props}
                  maxLength={2000}
                  value={note}
                  onChange={(event) => setNote(event.target.value)}
                />
              )}
            </Field>
          )}
          <DescriptionFields value={said} onChange={setSaid} />
          <details>
            <summary>How to read the file</summary>
            <ReadingFields value={reading} onChange={setReading} />
          </details>
          <div>
            <button type="submit" className="button primary" disabled={!file?.size || busy}>
              Publish
            </button>
          </div>
        </section>
        <section ref={outcome} className="card stack-small" aria-label="Progress">
          <h2>Progress</h2>
          {sending.kind === 'idle' && !jobId && (
            <p className="soft small">
              The file is uploaded and checked, and then published as a whole. Until then, and if it fails,
              the current version stays.
            </p>
          )}
          {sending.kind === 'sending' && file && (
            <div className="stack-small" role="status">
              <p>
                Sending, {bytes(sending.sent)} of {bytes(file.size)}
              </p>
              <progress aria-label="Sending" value={sending.sent} max={file.size} />
              <div>
                <button type="button" className="button small" onClick={() => stopping.current?.abort()}>
                  Stop
                </button>
              </div>
            </div>
          )}
          {sending.kind === 'failed' && <ProblemNote error={sending.error} />}
          {job.isError && <ProblemNote error={job.error} retry={job.refetch} />}
          {job.data && <PublishOutcome job={job.data} />}
          {job.data && !isJobEnded(job.data.state) && (
            <div>
              <button type="button" className="button small" onClick={() => setIsCancelling(true)}>
                Cancel the job
              </button>
            </div>
          )}
        </section>
      </form>
      {isCancelling && job.data && (
        <CancelJobDialog
          job={job.data}
          onCancelled={() => job.refetch()}
          onClose={() => setIsCancelling(false)}
        />
      )}
    </>
  )
}
