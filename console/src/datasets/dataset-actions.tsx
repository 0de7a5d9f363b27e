import type { DatasetDetails } from '@wayleave/contract/records'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { useMe, usePublishedUsage } from '../api/queries.ts'
import { plural } from '../words.ts'
import { mayChange } from './may-change.ts'

// Few readers may change a dataset.
const EditDatasetDialog = lazy(async () => ({
  default: (await import('../administration/edit-dataset-dialog.tsx')).EditDatasetDialog,
}))

/** Beside the title, for those who may change the dataset: its description, a new version, and its usage. */
export function DatasetActions({ dataset }: { dataset: DatasetDetails }) {
  const { data: me } = useMe()
  const [isEditing, setIsEditing] = useState(false)
  if (!mayChange(me, dataset)) return null
  const isOwn = dataset.owner !== null && dataset.owner.organizationId === me?.organization?.id
  const publish = isOwn ? '/organization/publish' : '/administration/publish'
  return (
    <>
      <button type="button" className="button small" onClick={() => setIsEditing(true)}>
        Edit
      </button>
      <Link className="button small" to={`${publish}?table=${dataset.table}`}>
        New version
      </Link>
      {isOwn ? (
        <OwnUsage table={dataset.table} organizationId={dataset.owner!.organizationId} />
      ) : (
        <Link className="button small" to="/administration">
          Usage
        </Link>
      )}
      {isEditing && (
        <Suspense>
          <EditDatasetDialog dataset={dataset} onClose={() => setIsEditing(false)} />
        </Suspense>
      )}
    </>
  )
}

function OwnUsage({ table, organizationId }: { table: string; organizationId: string }) {
  const usage = usePublishedUsage(organizationId).data
  const calls = usage?.datasets.find((row) => row.table === table)?.calls ?? 0
  return (
    <Link className="button small" to="/organization/data">
      Usage{usage && <span className="soft">{plural(calls, 'call')} in 30 days</span>}
    </Link>
  )
}
