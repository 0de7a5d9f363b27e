import type { JobRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'

export function CancelJobDialog({
  job,
  onCancelled,
  onClose,
}: {
  job: JobRecord
  onCancelled: () => Promise<unknown>
  onClose: () => void
}) {
  return (
    <ActionDialog
      title={`Stop publishing ${job.table}?`}
      action="Cancel the job"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/jobs/${job.id}`)
        await onCancelled()
      }}
    >
      <p>The uploaded file is removed and nothing of it is published. The current version stays.</p>
    </ActionDialog>
  )
}
