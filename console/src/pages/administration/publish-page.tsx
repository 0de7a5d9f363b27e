import { type FormEvent, useState } from 'react'
import { DescriptionFields } from '../../administration/description-fields.tsx'
import { NO_DESCRIPTION } from '../../administration/description-form.ts'
import { FileDrop } from '../../administration/file-drop.tsx'
import { PublishProgress } from '../../administration/publish-progress.tsx'
import { noReadingChoices, ReadingFields } from '../../administration/reading-fields.tsx'
import { tableNameOf } from '../../administration/table-name.ts'
import { usePublishing } from '../../administration/use-publishing.ts'
import { useDatasets } from '../../api/queries.ts'
import { Field } from '../../components/form/field.tsx'
import { useTitle } from '../../components/page/use-title.ts'

/** The form to publish a file: drag and drop, description, progress, and the report. */
export function PublishPage() {
  useTitle('Publish')
  const { data: datasets = [] } = useDatasets()
  const [file, setFile] = useState<File | null>(null)
  const [table, setTable] = useState('')
  const [said, setSaid] = useState(NO_DESCRIPTION)
  const [note, setNote] = useState('')
  const [reading, setReading] = useState(noReadingChoices)
  const publishing = usePublishing()
  const exists = datasets.find((dataset) => dataset.table === table)

  const choose = (chosen: File) => {
    setFile(chosen)
    setTable((typed) => typed || tableNameOf(chosen.name))
    publishing.reset()
  }
  const publish = (event: FormEvent) => {
    event.preventDefault()
    if (!file?.size) return
    const { skipInvalid, isTable, ...texts } = reading
    const fields = Object.entries({ ...said, ...texts, note }).filter(([, value]) => value.trim() !== '')
    publishing.start(table, file, {
      ...Object.fromEntries(fields),
      ...(skipInvalid && { skipInvalid: 'true' }),
      ...(isTable && { geometry: 'false' }),
    })
  }
  return (
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
          <button type="submit" className="button primary" disabled={!file?.size || publishing.isBusy}>
            Publish
          </button>
        </div>
      </section>
      <PublishProgress publishing={publishing} />
    </form>
  )
}
