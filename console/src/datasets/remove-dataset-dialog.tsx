import { useQueryClient } from '@tanstack/react-query'
import type { DatasetRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { plural } from '../words.ts'

export function RemoveDatasetDialog({
  dataset,
  onClose,
}: {
  dataset: Pick<DatasetRecord, 'table' | 'title' | 'version'>
  onClose: () => void
}) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Remove “${dataset.title}”?`}
      action="Remove the dataset"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/dataset/${dataset.table}`)
        await queries.invalidateQueries({ queryKey: ['datasets'] })
      }}
    >
      <p>
        “{dataset.title}” and all of its versions ({plural(dataset.version, 'publishing')} so far) are removed
        at once. Programs that read it get 404. This cannot be undone.
      </p>
    </ActionDialog>
  )
}
