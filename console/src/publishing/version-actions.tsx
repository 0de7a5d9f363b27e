import { useQueryClient } from '@tanstack/react-query'
import type { Archive } from '@wayleave/client'
import type { DatasetRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { useDraft } from '../api/queries.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { RowButton } from '../components/form/row-button.tsx'
import { Moment } from '../components/when.tsx'
import { plural } from '../words.ts'
import { DraftPreview } from './draft-preview.tsx'

type Chosen = 'roll-back' | 'delete' | 'note' | null

/** What publishers do with a version that is listed. */
export function VersionActions({ table, archive }: { table: string; archive: Archive }) {
  const [chosen, setChosen] = useState<Chosen>(null)
  const { version, current } = archive
  const of = `version ${version}`
  const props = { table, archive, onClose: () => setChosen(null) }
  return (
    <>
      <RowButton label="Edit the note" of={` of ${of}`} onClick={() => setChosen('note')} />
      {!current && <RowButton label="Roll back" of={` to ${of}`} onClick={() => setChosen('roll-back')} />}
      {!current && <RowButton label="Delete" of={of} onClick={() => setChosen('delete')} />}
      {chosen === 'note' && <NoteDialog {...props} />}
      {chosen === 'roll-back' && <RollBackDialog {...props} />}
      {chosen === 'delete' && <DeleteVersionDialog {...props} />}
    </>
  )
}

interface DialogProps {
  table: string
  archive: Archive
  onClose: () => void
}

/** Reads again what depends on the versions of a dataset. */
function useVersionsChanged(table: string) {
  const queries = useQueryClient()
  return async () => {
    await queries.invalidateQueries({ queryKey: ['archives', table] })
    await queries.invalidateQueries({ queryKey: ['datasets'] })
  }
}

function RollBackDialog({ table, archive: { version, rows }, onClose }: DialogProps) {
  const versionsChanged = useVersionsChanged(table)
  return (
    <ActionDialog
      title={`Roll back to version ${version}?`}
      action="Roll back"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/dataset/${table}/rollback`, { version })
        await versionsChanged()
      }}
    >
      <p>
        A new version with the {plural(rows, 'row')} of version {version} becomes the current one at once. The
        versions after it stay in the list.
      </p>
    </ActionDialog>
  )
}

function DeleteVersionDialog({ table, archive: { version }, onClose }: DialogProps) {
  const versionsChanged = useVersionsChanged(table)
  return (
    <ActionDialog
      title={`Delete version ${version}?`}
      action="Delete the version"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/dataset/${table}/archives/${version}`)
        await versionsChanged()
      }}
    >
      <p>It cannot be downloaded any more, also not by those who have paid for it. This cannot be undone.</p>
    </ActionDialog>
  )
}

function NoteDialog({ table, archive: { version, note }, onClose }: DialogProps) {
  const versionsChanged = useVersionsChanged(table)
  const [text, setText] = useState(note)
  return (
    <ActionDialog
      title={`The note of version ${version}`}
      action="Save"
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', `/v1/dataset/${table}/archives/${version}`, { note: text })
        await versionsChanged()
      }}
    >
      <Field label="What is new in this version">
        {(props) => (
          <textarea
            {...props}
            rows={3}
            maxLength={2000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}

/** The version that waits for its release, if there is one, or a whole dataset that is a draft. */
export function DraftNote({ dataset: { table, visibility } }: { dataset: DatasetRecord }) {
  const { data: draft } = useDraft(table, true)
  const [chosen, setChosen] = useState<'release' | 'discard' | null>(null)
  const [isLooking, setIsLooking] = useState(false)
  const versionsChanged = useVersionsChanged(table)
  const isHidden = visibility === 'draft'
  if (!draft && !isHidden) return null
  const close = () => setChosen(null)
  return (
    <div className="note stack-small" role="status">
      <p>
        {draft ? (
          <>
            <strong>Draft:</strong> a version with {plural(draft.rows, 'row')} waits for its release since{' '}
            <Moment at={draft.createdAt} />. Nobody else sees it.
          </>
        ) : (
          'This dataset is a draft: only its publishers see it.'
        )}
      </p>
      <div className="inline-form">
        <button type="button" className="button small primary" onClick={() => setChosen('release')}>
          Release
        </button>
        {draft && (
          <button
            type="button"
            className="button small"
            aria-expanded={isLooking}
            onClick={() => setIsLooking(!isLooking)}
          >
            Look at it
          </button>
        )}
        {draft && (
          <button type="button" className="button small" onClick={() => setChosen('discard')}>
            Discard the draft
          </button>
        )}
      </div>
      {draft && isLooking && <DraftPreview table={table} draft={draft} />}
      {chosen === 'release' && (
        <ActionDialog
          title={draft ? 'Release the draft?' : `Release ${table}?`}
          action={draft ? 'Release the draft' : 'Release the dataset'}
          onClose={close}
          onAction={async () => {
            await call('POST', `/v1/dataset/${table}/release`, {})
            await versionsChanged()
          }}
        >
          <p>
            {draft
              ? `Its ${plural(draft.rows, 'row')} become the current version at once.`
              : 'Others see it from then on.'}
          </p>
        </ActionDialog>
      )}
      {chosen === 'discard' && (
        <ActionDialog
          title="Discard the draft?"
          action="Discard it"
          danger
          onClose={close}
          onAction={async () => {
            await call('DELETE', `/v1/dataset/${table}/draft`)
            await versionsChanged()
          }}
        >
          <p>The version that waits for its release is removed. The current version stays.</p>
        </ActionDialog>
      )}
    </div>
  )
}
