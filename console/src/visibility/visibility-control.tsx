import type { DatasetDetails } from '@wayleave/contract/records'
import { useState } from 'react'
import { useMe } from '../api/queries.ts'
import { mayChange } from '../datasets/may-change.ts'
import { SharingDialog } from './sharing-dialog.tsx'
import { VisibilityBadge } from './visibility-badge.tsx'
import { VISIBILITY_WORDS } from './visibility-words.ts'

/** Beside the title of a dataset: who sees it, and for those who may change that, a button to do so. */
export function VisibilityControl({ dataset }: { dataset: DatasetDetails }) {
  const { data: me } = useMe()
  const [isOpen, setIsOpen] = useState(false)
  if (!mayChange(me, dataset)) return <VisibilityBadge visibility={dataset.visibility} />
  return (
    <>
      <button type="button" className="button small" onClick={() => setIsOpen(true)}>
        {VISIBILITY_WORDS[dataset.visibility].name} · Share
      </button>
      {isOpen && <SharingDialog dataset={dataset} onClose={() => setIsOpen(false)} />}
    </>
  )
}
