import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { DatasetRecord } from '@wayleave/contract/records'
import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import { call } from '../api/call.ts'
import { Dialog } from '../components/form/dialog.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { GiveAccessForm } from './give-access-form.tsx'
import { OrganizationsWithAccess } from './organizations-with-access.tsx'
import { VISIBILITY_WORDS } from './visibility-words.ts'

type Shared = Pick<DatasetRecord, 'table' | 'title' | 'visibility'>

/** Who sees a dataset, and which organizations have access to it. */
export function SharingDialog({ dataset, onClose }: { dataset: Shared; onClose: () => void }) {
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (visibility: Visibility) => call('PATCH', `/v1/dataset/${dataset.table}`, { visibility }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['datasets'] }),
  })
  const chosen = change.variables ?? dataset.visibility
  return (
    <Dialog title={`Who gets “${dataset.title}”`} onClose={onClose} isWide>
      <div className="stack">
        <fieldset className="stack-small" disabled={change.isPending}>
          <legend>Who sees it</legend>
          {VISIBILITIES.map((visibility) => (
            <label key={visibility} className="choice">
              <input
                type="radio"
                name="visibility"
                checked={chosen === visibility}
                onChange={() => change.mutate(visibility)}
              />
              <span>
                {VISIBILITY_WORDS[visibility].name}
                <small>{VISIBILITY_WORDS[visibility].meaning}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {change.isError && <ProblemNote error={change.error} />}
        <p className="visually-hidden" role="status">
          {change.isSuccess && `Now: ${VISIBILITY_WORDS[chosen].name}.`}
        </p>
        {chosen !== 'open' && chosen !== 'draft' && (
          <>
            <OrganizationsWithAccess table={dataset.table} />
            <GiveAccessForm table={dataset.table} />
          </>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  )
}
