import { DescriptionFields, TitleField } from '../../administration/description-fields.tsx'
import { FileDrop } from '../../administration/file-drop.tsx'
import { PublishProgress } from '../../administration/publish-progress.tsx'
import { ReadingFields } from '../../administration/reading-fields.tsx'
import { Field } from '../../components/form/field.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { InspectionView } from '../../publishing/inspection-view.tsx'
import { type PublishForm, usePublishForm } from '../../publishing/use-publish-form.ts'
import { VersionFields } from '../../publishing/version-fields.tsx'
import { PublishAddress } from '../../sources/publish-address.tsx'

/** Publishes a file, or what is at an address. First there is only the place for the file; the questions follow. */
export function PublishPage() {
  useTitle('Publish')
  const form = usePublishForm()
  return (
    <div className="stack">
      <PublishFile form={form} />
      {/* It keeps what was entered. */}
      <div hidden={form.file !== null}>
        <PublishAddress />
      </div>
    </div>
  )
}

/** The form to publish a file: drag and drop, a look at what it contains, description, progress, and the report. */
function PublishFile({ form }: { form: PublishForm }) {
  const { exists, look, version, file, publishing } = form
  const hasProgress = publishing.hasJob || publishing.sending.kind !== 'idle'
  return (
    <form className="stack" onSubmit={form.submit}>
      <div className={hasProgress ? 'columns' : undefined}>
        <section className="card stack">
          <h2>{exists ? `Publish a new version of ${exists.title}` : 'Publish a file'}</h2>
          <FileDrop file={file} onFile={form.choose} />
          {file === null && (
            <p className="soft small">
              You see what it contains before anything is published. Until then, and if it fails, nothing
              changes.
            </p>
          )}
          {!!file?.size && <Questions form={form} />}
        </section>
        {hasProgress && (
          <PublishProgress
            publishing={publishing}
            rows={look.inspection?.rows ?? null}
            onFix={form.publish}
            onAnother={form.startAnew}
          />
        )}
      </div>
      {look.inspection && !isPublished(form) && (
        <InspectionView
          inspection={look.inspection}
          corrections={look.corrections}
          onCorrections={look.setCorrections}
          stored={form.stored}
          reading={form.reading}
          onReading={form.setReading}
          onIgnoreSchema={
            version.ignoreSchema ? undefined : () => form.setVersion({ ...version, ignoreSchema: true })
          }
        />
      )}
    </form>
  )
}

/** Whether the file that is chosen was published last. */
function isPublished({ publishing }: PublishForm): boolean {
  return (publishing.job.data?.report?.version ?? null) !== null
}

/** What is asked once the file is known. Only its name has to be answered, and that has a proposal. */
function Questions({ form }: { form: PublishForm }) {
  const { exists, look, version, said } = form
  return (
    <>
      <TableField value={form.table} onChange={form.setTable} current={exists?.version} />
      <TitleField value={said} onChange={form.setSaid} />
      <VersionFields
        value={version}
        onChange={form.setVersion}
        exists={exists !== undefined}
        isInspected={look.inspection !== null}
        stored={form.stored}
      />
      <details>
        <summary>Description, license, contact and price</summary>
        <div className="stack padded-top">
          <DescriptionFields value={said} onChange={form.setSaid} />
        </div>
      </details>
      <details>
        <summary>How to read the file</summary>
        <ReadingFields value={form.reading} onChange={form.setReading} />
      </details>
      {form.isAsking && (
        <PublishAgain
          table={form.table}
          onPublish={() => form.publish()}
          onLeave={() => form.setIsAsking(false)}
        />
      )}
      <div className="inline-form">
        {/* Once it is published, the button that leads on is the first one. */}
        <button
          type="submit"
          className={isPublished(form) ? 'button' : 'button primary'}
          disabled={form.isBusy}
        >
          Publish
        </button>
        <button type="button" className="button" disabled={form.isBusy} onClick={form.inspect}>
          {look.inspection ? 'Look again' : 'Look at the file'}
        </button>
      </div>
    </>
  )
}

function PublishAgain(props: { table: string; onPublish: () => void; onLeave: () => void }) {
  return (
    <div className="note warn stack-small" role="alert">
      <p>
        You have just published this file as {props.table}. Publishing it again makes another version with the
        same rows.
      </p>
      <div className="row">
        <button type="button" className="button small" onClick={props.onPublish}>
          Publish it again
        </button>
        <button type="button" className="button small" onClick={props.onLeave}>
          Leave it
        </button>
      </div>
    </div>
  )
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
          : `${value} exists: the file becomes its version after ${current}, and what you leave empty stays.`
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
