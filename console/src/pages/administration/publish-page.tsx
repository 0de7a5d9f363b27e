import { type FormEvent, useState } from 'react'
import { useSearchParams } from 'react-router'
import { DescriptionFields } from '../../administration/description-fields.tsx'
import { NO_DESCRIPTION } from '../../administration/description-form.ts'
import { FileDrop } from '../../administration/file-drop.tsx'
import { PublishProgress } from '../../administration/publish-progress.tsx'
import { noReadingChoices, type ReadingChoices, ReadingFields } from '../../administration/reading-fields.tsx'
import { tableNameOf } from '../../administration/table-name.ts'
import { usePublishing } from '../../administration/use-publishing.ts'
import { useDatasets, useSchema } from '../../api/queries.ts'
import { Field } from '../../components/form/field.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { correctedSchema } from '../../publishing/corrections.ts'
import type { FormChange } from '../../publishing/fixes.ts'
import { InspectionView } from '../../publishing/inspection-view.tsx'
import { useInspection } from '../../publishing/use-inspection.ts'
import { NO_VERSION_CHOICES, VersionFields, versionOptions } from '../../publishing/version-fields.tsx'

/** The form to publish a file: drag and drop, a look at what it contains, description, progress, and the report. */
export function PublishPage() {
  useTitle('Publish')
  const { data: datasets = [] } = useDatasets()
  const [file, setFile] = useState<File | null>(null)
  // A dataset's page leads here for its next version.
  const [parameters] = useSearchParams()
  const [table, setTable] = useState(parameters.get('table') ?? '')
  const [said, setSaid] = useState(NO_DESCRIPTION)
  const [version, setVersion] = useState(NO_VERSION_CHOICES)
  const [reading, setReading] = useState(noReadingChoices)
  const [isLooking, setIsLooking] = useState(false)
  const [isAsking, setIsAsking] = useState(false)
  const publishing = usePublishing()
  const look = useInspection()
  const exists = datasets.find((dataset) => dataset.table === table)
  const { data: stored } = useSchema(exists?.table)
  const isBusy = publishing.isBusy || look.inspecting.isBusy

  const choose = (chosen: File) => {
    setFile(chosen)
    setTable((typed) => typed || tableNameOf(chosen.name))
    publishing.reset()
    look.reset()
  }
  const schemaOption = (): Record<string, string> => {
    const { inspection, corrections } = look
    const { isFixed = false, ...fixed } = stored ?? { columns: [] }
    const base = isFixed ? fixed : null
    const { idColumn, timeColumn, longitude, latitude, geometryColumn, crs } = reading
    const roles = { idColumn, timeColumn, longitude, latitude, geometryColumn, crs }
    const checks = { keepsAll: version.keepsColumns, maxRowDrop: version.maxRowDrop }
    const schema = inspection && correctedSchema(inspection.columns, corrections, base, checks, roles)
    return schema ? { schema: JSON.stringify(schema) } : {}
  }
  const inspect = () => {
    if (!file?.size) return
    setIsLooking(true)
    const { mode } = version
    const options = { ...readingOptions(reading), ...schemaOption(), ...(exists && mode && { mode }) }
    const query = exists ? `?table=${table}` : ''
    void look.inspecting.start(
      { method: 'POST', path: `/v1/inspect${query}` },
      { file, inspection: look.inspectionId },
      options,
    )
  }
  const publish = (change: FormChange = {}) => {
    if (!file?.size) return
    const changedReading = { ...reading, ...change.reading }
    const changedVersion = { ...version, ...change.version }
    setReading(changedReading)
    setVersion(changedVersion)
    setIsLooking(false)
    setIsAsking(false)
    sentBefore.add(nameOf(file, table))
    void publishing.start(
      { method: 'PUT', path: `/v1/dataset/${table}` },
      { file, inspection: look.inspectionId },
      {
        ...written(said),
        ...readingOptions(changedReading),
        ...versionOptions(changedVersion),
        ...schemaOption(),
        ...(changedReading.skipInvalid && { skipInvalid: 'true' }),
      },
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const isAgain = file !== null && exists !== undefined && sentBefore.has(nameOf(file, table))
    if (isAgain) setIsAsking(true)
    else publish()
  }
  const startAnew = () => {
    setFile(null)
    setTable('')
    setSaid(NO_DESCRIPTION)
    setVersion(NO_VERSION_CHOICES)
    setReading(noReadingChoices)
    publishing.reset()
    look.reset()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <div className="columns">
        <section className="card stack">
          <FileDrop file={file} onFile={choose} />
          <TableField value={table} onChange={setTable} current={exists?.version} />
          <VersionFields
            value={version}
            onChange={setVersion}
            exists={exists !== undefined}
            isInspected={look.inspection !== null}
            stored={stored?.isFixed ? stored : null}
          />
          <DescriptionFields value={said} onChange={setSaid} />
          <details>
            <summary>How to read the file</summary>
            <ReadingFields value={reading} onChange={setReading} />
          </details>
          {isAsking && (
            <div className="note warn stack-small" role="alert">
              <p>
                You have just published this file as {table}. Publishing it again makes another version with
                the same rows.
              </p>
              <div className="row">
                <button type="button" className="button small" onClick={() => publish()}>
                  Publish it again
                </button>
                <button type="button" className="button small" onClick={() => setIsAsking(false)}>
                  Leave it
                </button>
              </div>
            </div>
          )}
          <div className="inline-form">
            <button type="submit" className="button primary" disabled={!file?.size || isBusy}>
              Publish
            </button>
            <button type="button" className="button" disabled={!file?.size || isBusy} onClick={inspect}>
              {look.inspection ? 'Look again' : 'Look at the file first'}
            </button>
          </div>
        </section>
        <PublishProgress
          publishing={isLooking ? look.inspecting : publishing}
          rows={look.inspection?.rows ?? null}
          onFix={publish}
          onAnother={startAnew}
        />
      </div>
      {look.inspection && (
        <InspectionView
          inspection={look.inspection}
          corrections={look.corrections}
          onCorrections={look.setCorrections}
          stored={stored?.isFixed ? stored : null}
          reading={reading}
          onReading={setReading}
          onIgnoreSchema={
            version.ignoreSchema ? undefined : () => setVersion({ ...version, ignoreSchema: true })
          }
        />
      )}
    </form>
  )
}

/** The files that this tab has published, so that the same one again is asked about. */
const sentBefore = new Set<string>()

function nameOf({ name, size, lastModified }: File, table: string): string {
  return [table, name, size, lastModified].join('/')
}

/** The fields that have a text. */
function written(fields: object): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value.trim() !== ''))
}

function readingOptions({
  skipInvalid: _,
  isTable,
  allowInaccurateCrs,
  ...texts
}: ReadingChoices): Record<string, string> {
  return {
    ...written(texts),
    ...(isTable && { geometry: 'false' }),
    ...(allowInaccurateCrs && { allowInaccurateCrs: 'true' }),
  }
}

function TableField({
  value,
  onChange,
  current,
}: {
  value: string
  onChange: (value: string) => void
  /** The version of the dataset of this name, if there is one. */
  current: number | undefined
}) {
  return (
    <Field
      label="Table"
      help={
        current === undefined
          ? 'The name in addresses: lower-case letters, digits and _, a letter first.'
          : `${value} exists: the file becomes its version after ${current}, and what you leave empty below stays.`
      }
    >
      {(props) => (
        <input
          {...props}
          required
          pattern="[a-z][a-z0-9_]{0,62}"
          title="Lower-case letters, digits and _, a letter first, at most 63 characters"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
