import { isJobEnded } from '@wayleave/contract/job-states'
import type { JobRecord } from '@wayleave/contract/records'
import { type ComponentProps, useEffect, useRef, useState } from 'react'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { bytes } from '../words.ts'
import { CancelJobDialog } from './cancel-job-dialog.tsx'
import { PublishOutcome } from './publish-outcome.tsx'
import type { Publishing } from './use-publishing.ts'

/** The outcome in a word, once there is one. */
function headingOf(job: JobRecord | undefined): string {
  if (job?.state === 'failed') return job.kind === 'inspect' ? 'The file cannot be read' : 'Not published'
  if (job?.state !== 'done') return 'Progress'
  if (!job.report) return 'Ready to publish'
  return job.report.version === null ? 'Checked' : 'Published'
}

/** How far the publishing of a file is, and its outcome. */
export function PublishProgress({
  publishing,
  ...outcome
}: {
  publishing: Publishing
} & Omit<ComponentProps<typeof PublishOutcome>, 'job'>) {
  const { sending, job, stop } = publishing
  const [isCancelling, setIsCancelling] = useState(false)
  const state = job.data?.state

  // The outcome is beside the beginning of the form or, on phones, below it.
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    if (sending.kind !== 'idle' || state) place.current!.scrollIntoView({ block: 'nearest' })
  }, [sending.kind, state])

  return (
    <section ref={place} className="card stack-small" aria-label="Progress">
      <h2>{headingOf(job.data)}</h2>
      {sending.kind === 'sending' && (
        <div className="stack-small" role="status">
          <p>
            Sending, {bytes(sending.sent)} of {bytes(sending.size)}
          </p>
          <progress aria-label="Sending" value={sending.sent} max={sending.size} />
          <div>
            <button type="button" className="button small" onClick={stop}>
              Stop
            </button>
          </div>
        </div>
      )}
      {sending.kind === 'failed' && <ProblemNote error={sending.error} />}
      {job.isError && <ProblemNote error={job.error} retry={job.refetch} />}
      {job.data && <PublishOutcome job={job.data} {...outcome} />}
      {job.data && !isJobEnded(job.data.state) && (
        <div>
          <button type="button" className="button small" onClick={() => setIsCancelling(true)}>
            Cancel the job
          </button>
        </div>
      )}
      {isCancelling && job.data && (
        <CancelJobDialog
          job={job.data}
          onCancelled={() => job.refetch()}
          onClose={() => setIsCancelling(false)}
        />
      )}
    </section>
  )
}
